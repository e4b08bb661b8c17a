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
        // The first one connects, and some peers sort all due jobs before they hand it out.
        $peer->take(60) ?? throw new RuntimeException('a full queue gave nothing');
        $meter = new Meter($task->endpoint->pid);
        for ($done = 0; $done < $task->count && $meter->elapsed() < $task->seconds && $peer->take(0) !== null; $done++) {
            $meter->step();
        }

        return $meter->result();
    }
}
