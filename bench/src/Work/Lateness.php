<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/**
 * Pushes jobs that fall due spread over some seconds, then waits for them as an idle worker. A job is late by the time from
 * the moment before its push plus its delay to the call of its handler; less than zero is early.
 */
final class Lateness implements Work
{
    /** Nothing is due before the worker waits. */
    private const LEAD_MS = 500;

    /** How long after its due time the last job is waited for. */
    private const PATIENCE_SECONDS = 5.0;

    public static function run(Peer $peer, Task $task): array
    {
        $spreadMs = (int) ($task->seconds * 1000);
        $payloads = array_map(Order::payload(...), range(0, $task->count - 1));
        $due = [];
        foreach ($payloads as $number => $payload) {
            $delay = self::LEAD_MS + random_int(0, $spreadMs);
            $due[] = microtime(true) * 1000 + $delay;
            $peer->push(Order::id($number), $delay, $payload);
        }
        $late = [];
        $peer->consume($task->count, static function (string $payload) use (&$late, $due): bool {
            $late[] = round(microtime(true) * 1000 - $due[Order::number($payload)], 3);

            return true;
        }, 1, max($due) / 1000 - microtime(true) + self::PATIENCE_SECONDS);

        return ['late_ms' => $late, 'lost' => $task->count - count($late)];
    }
}
