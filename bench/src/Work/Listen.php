<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** An idle worker. Payloads of {@see Knock} tell when they were pushed. */
final class Listen implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        $task->waitForSignal();
        $late = [];
        $peer->consume($task->count, static function (string $payload) use (&$late): bool {
            $late[] = round(hrtime(true) / 1e6 - Order::number($payload) / 1e3, 3);

            return true;
        }, 1, $task->seconds);

        return ['late_ms' => $late];
    }
}
