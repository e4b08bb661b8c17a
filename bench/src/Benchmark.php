<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** One case: what is measured with each peer, in each run. */
interface Benchmark
{
    /** @return iterable<Section> each as soon as it is complete */
    public function run(Session $session): iterable;

    /** @return list<string> Debian packages it needs beside those of the peers */
    public function packages(): array;
}
