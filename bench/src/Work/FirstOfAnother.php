<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Work;

use DelayQueue\Bench\Order;
use DelayQueue\Bench\Peer;
use DelayQueue\Bench\Peers\DelayQueuePeer;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Work;
use RuntimeException;

/** Behind all jobs of a queue comes the first one of another group: as which one it is served. */
final class FirstOfAnother implements Work
{
    public static function run(Peer $peer, Task $task): array
    {
        assert($peer instanceof DelayQueuePeer);
        $peer->queue->push(Order::payload(0), id: 'another', group: 'another');
        for ($place = 1; $place <= 100; $place++) {
            if ($peer->queue->reserve()?->id === 'another') {
                return ['place' => $place];
            }
        }
        throw new RuntimeException('it is not among the first hundred');
    }
}
