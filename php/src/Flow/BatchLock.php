<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;

/**
 * The definition of a batch, held by this process alone: see BatchStore::hold().
 *
 * @internal
 */
final class BatchLock
{
    public readonly BatchDefinition $batch;

    public function __construct(private readonly JobInterface $job)
    {
        $this->batch = BatchDefinition::of($job->payload);
    }

    /** @throws LeaseLostException when another process has taken over: nothing is changed */
    public function save(): void
    {
        $this->job->update($this->batch->payload());
    }

    /**
     * The batch is no more.
     *
     * @throws LeaseLostException
     */
    public function end(): void
    {
        $this->job->ack();
    }
}
