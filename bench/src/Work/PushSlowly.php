<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** Pushes a given number of far-off jobs, evenly spread over a given time. */
final class PushSlowly implements Work
{
    /** Ids of jobs that a {@see Fill} made are smaller. */
    private const FIRST = 1_000_000_000;

    public static function run(Peer $peer, Task $task): array
    {
        $task->waitForSignal();
        $started = hrtime(true);
        for ($done = 0; $done < $task->count; $done++) {
            $at = $started + (int) (1e9 * $task->seconds * $done / $task->count);
            usleep((int) max(0, ($at - hrtime(true)) / 1000));
            $number = self::FIRST + $done;
            $peer->push(Order::id($number), $task->delayMs, Order::payload($number));
        }
        usleep((int) max(0, ($started + 1e9 * $task->seconds - hrtime(true)) / 1000));

        return ['pushed' => $task->count];
    }
}
