<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use DelayQueue;
use JsonSerializable;

/** Uses the queue while it is being pushed to it. */
final class PushingPayload implements JsonSerializable
{
    public function __construct(private readonly DelayQueue $queue)
    {
    }

    public function jsonSerialize(): string
    {
        return $this->queue->push('pushed from within', id: 'inner');
    }
}
