<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Mixture;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use RuntimeException;

/** Fills a queue of this extension with due jobs of a {@see Mixture}. */
final class FillMixed implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        for ($from = 0; $from < $task->count; $from += Mixture::PERIOD) {
            $jobs = [];
            for ($number = $from; $number < min($task->count, $from + Mixture::PERIOD); $number++) {
                if (Mixture::hasFailed($number)) {
                    self::pushFailed($peer, $number);
                } else {
                    $jobs[] = ['payload' => Order::payload($number), 'id' => Order::id($number)] + Mixture::options($number);
                }
            }
            $peer->queue->pushMany($jobs);
        }

        return ['jobs' => $task->count];
    }

    private static function pushFailed(DelayQueuePeer $peer, int $number): void
    {
        $id = $peer->queue->push(Order::payload($number), 0, Order::id($number));
        $job = $peer->queue->reserveJob($id) ?? throw new RuntimeException("$id is not there");
        $job->fail('out of stock');
        $peer->queue->kickJob($id, resetAttempts: false);
    }
}
