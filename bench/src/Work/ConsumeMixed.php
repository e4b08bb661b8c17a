<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Meter;
use DelayQueue\Bench\Mixture;
use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use DelayQueue\Job;
use RuntimeException;

/** A worker of this extension on a queue of a {@see Mixture}. Jobs that fail come back later than it works. */
final class ConsumeMixed implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        $meter = null;
        $peer->queue->consume(
            static function (Job $job) use (&$meter, $task): bool {
                if ($meter === null) {
                    $meter = new Meter($task->endpoint->pid);
                } else {
                    $meter->step();
                }

                return !($job->attempts === 1 && Mixture::fails(Order::number($job->body)));
            },
            maxJobs: $task->count,
            maxTime: $task->seconds,
            prefetch: $task->prefetch,
        );

        return $meter?->result() ?? throw new RuntimeException('a full queue gave nothing');
    }
}
