<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue;
use DelayQueue\Bench\Callgrind;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use DelayQueue\Job;
use RuntimeException;

/** A worker on a full queue, with each prefetch: the instructions of the server for a job, acknowledged with the reserve of the next batch. */
final class CountLoop implements Work
{
    /** Batches by prefetch, of the count of the task. */
    private const BATCHES = [1 => 1.0, 16 => 0.1, 64 => 0.04];

    /** The first batches connect, load scripts, and have nothing to acknowledge. */
    private const BEFORE = 2;

    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        $callgrind = Callgrind::of($task->endpoint->pid);
        $result = [];
        foreach (self::BATCHES as $prefetch => $share) {
            $size = min($prefetch, $task->batch);
            $first = self::BEFORE * $size;
            $last = $first + max(1, (int) ($share * $task->count)) * $size;
            [$done, $count] = [0, null];
            // From the first job of a batch to that of another.
            $handler = static function (Job $job, DelayQueue $queue) use ($callgrind, $first, $last, &$done, &$count): void {
                if ($done === $first) {
                    $callgrind->start();
                }
                if ($done === $last) {
                    $count = $callgrind->stop();
                    $queue->stop();
                }
                $done++;
            };
            // A heartbeat costs by time, not by jobs, and time is long under callgrind.
            $peer->queue->consume($handler, maxTime: $task->seconds, prefetch: $prefetch, heartbeat: false);
            if ($count === null) {
                throw new RuntimeException("only $done jobs with prefetch $prefetch");
            }
            $result["at_$prefetch"] = $count / ($last - $first);
        }

        return $result;
    }
}
