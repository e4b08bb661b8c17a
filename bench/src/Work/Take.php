<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Meter;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use RuntimeException;

/** Reserves and acknowledges due jobs one by one, each with a call of its own. */
final class Take implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        // The first one connects and loads scripts.
        $peer->take() ?? throw new RuntimeException('a full queue gave nothing');
        $meter = new Meter($task->endpoint->pid);
        for ($done = 0; $done < $task->count && $meter->elapsed() < $task->seconds && $peer->take() !== null; $done++) {
            $meter->step();
        }

        return $meter->result();
    }
}
