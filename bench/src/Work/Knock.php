<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** Pushes a job that is due at once, now and then; each says in microseconds of the machine's clock when that was. */
final class Knock implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        for ($number = 0; $number < $task->count; $number++) {
            usleep(random_int(15_000, 45_000));
            $peer->push(Order::id($number), 0, Order::payload(intdiv(hrtime(true), 1000)));
        }

        return ['knocks' => $task->count];
    }
}
