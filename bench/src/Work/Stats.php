<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;

/** Asks a queue of this extension for its numbers. */
final class Stats implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        for ($n = 0; $n < $task->count; $n++) {
            $peer->queue->stats();
        }

        return [];
    }
}
