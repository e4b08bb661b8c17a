<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Meter;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** Pushes delayed jobs many at a time. Making up the jobs is the caller's work and not timed. */
final class PushMany implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        $peer->pushMany(self::jobs(0, $task));
        $meter = new Meter($task->endpoint->pid);
        for ($from = $task->batch; $meter->elapsed() < $task->seconds && $from <= $task->count; $from += $task->batch) {
            $jobs = self::jobs($from, $task);
            $meter->skip();
            $peer->pushMany($jobs);
            $meter->step();
        }

        return $meter->result($task->batch, cpu: false);
    }

    /** @return list<array{string, int, string}> */
    private static function jobs(int $from, Task $task): array
    {
        $jobs = [];
        for ($number = $from; $number < $from + $task->batch; $number++) {
            $jobs[] = [Order::id($number), $task->delayMs + $number % 60_000, Order::payload($number)];
        }

        return $jobs;
    }
}
