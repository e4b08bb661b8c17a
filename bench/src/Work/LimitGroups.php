<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use DelayQueue\GroupLimits;

/** Limits all groups of a queue of this extension. */
final class LimitGroups implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        $peer->queue->limitGroups(limits: new GroupLimits(concurrency: 1));

        return [];
    }
}
