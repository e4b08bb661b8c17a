<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Peers;

use DelayQueue\Bench\Traits;

/** This extension, used by somebody who leaves the ids to it. */
final class OwnIdsPeer extends DelayQueuePeer
{
    public static function traits(): Traits
    {
        return new Traits('this extension, which makes the ids: a UUID each', batches: true, persists: true, isVariant: true, takesIds: false);
    }

    public function push(string $id, int $delayMs, string $payload): void
    {
        $this->queue->push($payload, $delayMs / 1000);
    }

    public function pushMany(array $jobs): void
    {
        $list = [];
        foreach ($jobs as [, $delayMs, $payload]) {
            $list[] = ['payload' => $payload, 'delay' => $delayMs / 1000];
        }
        $this->queue->pushMany($list);
    }
}
