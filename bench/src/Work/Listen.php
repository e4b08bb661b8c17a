<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** A worker on a queue in which nothing is due. */
final class Listen implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        $task->waitForSignal();
        $jobs = 0;
        $peer->consume($task->count, static function () use (&$jobs): bool {
            $jobs++;

            return true;
        }, 1, $task->seconds);

        return ['jobs' => $jobs];
    }
}
