<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Events;

/** A dispatched job was not queued, because one of its id was there and OnDuplicate::Keep said to leave that. */
final class DuplicateKept
{
    public function __construct(
        public readonly string $connectionName,
        public readonly string $queue,
        public readonly string $id,
        /** The payload that was not queued. */
        public readonly string $payload,
    ) {
    }
}
