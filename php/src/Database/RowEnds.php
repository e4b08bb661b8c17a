<?php

declare(strict_types=1);

namespace DelayQueue\Database;

use DelayQueue\JobInfo;

/**
 * Hears of jobs that end because of a row, for a framework whose jobs hold locks or count in batches. The $queues of an Outbox or a Relay is one, if it
 * wants to hear of them. Nothing may be thrown: the row has come to Redis already.
 *
 * @internal
 */
interface RowEnds
{
    /** Whether it wants to hear of a job with this payload. Such rows go to Redis one by one. */
    public function concerns(string $payload): bool;

    /** The row has become no job, because its id was taken. */
    public function kept(string $queue, string $id, string $payload): void;

    /** A waiting job was cancelled or, by that payload, replaced. */
    public function left(JobInfo $job, ?string $replacement): void;
}
