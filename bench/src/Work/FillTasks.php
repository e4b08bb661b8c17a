<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** Fills a queue of this extension with due jobs of so many tasks; 0: of none, but as large. */
final class FillTasks implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        for ($from = 0; $from < $task->count; $from += 500) {
            $jobs = [];
            for ($n = $from; $n < min($task->count, $from + 500); $n++) {
                $name = sprintf('close-order-of-shop-%04d', $n % max(1, $task->groups));
                $payload = [$task->groups > 0 ? 'task' : 'kind' => $name, 'params' => Order::payload($n)];
                $jobs[] = ['payload' => $payload, 'id' => Order::id($n)];
            }
            ConsumeTasks::queue($peer)->pushMany($jobs);
        }

        return ['jobs' => $task->count];
    }
}
