<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** Fills a queue for others to measure on. */
final class Fill implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        $started = hrtime(true);
        $peer->fill($task->count, $task->delayMs, $task->payloadBytes);

        return ['fill_s' => (hrtime(true) - $started) / 1e9];
    }
}
