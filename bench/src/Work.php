<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** The work of one child process with one peer. */
interface Work
{
    /** @return array<string, int|float|list<float>> what it measured, by name; units are in the names */
    public static function run(Peer $peer, Task $task): array;
}
