<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use RuntimeException;

/** Asks a queue of which nothing may be served. */
final class ReserveNothing implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        for ($n = 0; $n < $task->count; $n++) {
            if ($peer->queue->reserveMany(64) !== []) {
                throw new RuntimeException('a group gave more than it may');
            }
        }

        return [];
    }
}
