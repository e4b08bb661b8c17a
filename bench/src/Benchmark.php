<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** One case: it measures one table, and says which figures that table holds. */
interface Benchmark
{
    public function run(Session $session): Table;

    /** @return list<Figure> none, if nothing is wanted of this case */
    public function figures(Table $table): array;
}
