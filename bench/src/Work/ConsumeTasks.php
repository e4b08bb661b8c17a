<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** A worker whose handler does nothing, on a queue that FillTasks has filled. */
final class ConsumeTasks implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        $handler = static function (): void {
        };
        $before = self::userUs();
        // A heartbeat costs by time, not by jobs, and time is long under callgrind.
        self::queue($peer)->consume($handler, maxJobs: $task->count, maxTime: $task->seconds, prefetch: $task->prefetch, heartbeat: false);

        return ['user_us' => (self::userUs() - $before) / $task->count];
    }

    private static function userUs(): float
    {
        $usage = getrusage();

        return $usage['ru_utime.tv_sec'] * 1e6 + $usage['ru_utime.tv_usec'];
    }

    /** Its payloads are decoded, as those of tasks are. */
    public static function queue(DelayQueuePeer $peer): DelayQueue
    {
        return $peer->queue->sibling('tasks', ['format' => 'json']);
    }
}
