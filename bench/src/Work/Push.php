<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Meter;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** Pushes delayed jobs one at a time. */
final class Push implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        $payloads = array_map(Order::payload(...), range(0, 999));
        // The first pushes connect, load scripts and classes.
        for ($number = 0; $number < 200; $number++) {
            $peer->push(Order::id($number), $task->delayMs, $payloads[$number]);
        }
        $meter = new Meter($task->endpoint->pid);
        for ($done = 0; $done < $task->count && $meter->elapsed() < $task->seconds; $done++) {
            $peer->push(Order::id(1000 + $done), $task->delayMs + $done % 60_000, $payloads[$done % 1000]);
            $meter->step();
        }

        return $meter->result();
    }
}
