<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\State;

/** Where a chain stands: see Chain::status(). */
final class ChainStatus
{
    /** @internal */
    public function __construct(
        /** Of the chain, and of its first job. */
        public readonly string $id,
        /** The link that waits, runs or is buried: 1 for the first. */
        public readonly int $link,
        /** How many links the chain has. */
        public readonly int $of,
        /** Of that link's job. */
        public readonly string $jobId,
        /** The queue that the link's job is in. */
        public readonly string $queue,
        /** Null: the job is not in its queue. It was cancelled by its id, purged or dropped, unless push() is just at work. */
        public readonly ?State $state,
        /** Of the job. */
        public readonly ?string $lastError,
    ) {
    }
}
