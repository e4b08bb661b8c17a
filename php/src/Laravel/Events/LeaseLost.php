<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Events;

use DelayQueue\Laravel\Job;
use DelayQueue\LeaseLostException;

/** A worker wanted to delete or release a job that it held no longer: the job was cancelled, or another worker has it. Nothing was changed. */
final class LeaseLost
{
    public function __construct(public readonly string $connectionName, public readonly Job $job, public readonly LeaseLostException $exception)
    {
    }
}
