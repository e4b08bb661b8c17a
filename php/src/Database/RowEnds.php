<?php

declare(strict_types=1);

namespace DelayQueue\Database;

use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;

/**
 * Hears of jobs that end because of a row, for a framework whose jobs hold locks or count in batches. The $queues of an
 * Outbox or a Relay is one, if it wants to hear of them.
 *
 * @internal
 */
interface RowEnds
{
    /** Whether it wants to hear of a job with this payload. Such rows go to Redis one by one. */
    public function concerns(string $payload): bool;

    /** The row has become no job, because its id was taken. Throws nothing: the row will not come again. */
    public function kept(string $queue, string $id, string $payload): void;

    /** A job has given way to the row. Throws nothing. */
    public function replaced(JobInfo $job, string $payload): void;

    /** Cancels the job for a row, in place of cancel() of the queue. */
    public function cancel(QueueInterface $queue, JobInfo $job): void;
}
