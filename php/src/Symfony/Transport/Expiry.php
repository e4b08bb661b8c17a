<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DelayQueue\Exception as DelayQueueException;
use DelayQueue\Internal\StartBy;
use DelayQueue\Job;

/**
 * The time by which a message with a lock must be received. Its worker looks, not Redis, so that its end is seen.
 *
 * @internal
 */
final class Expiry
{
    public function __construct(private readonly Queues $queues, private readonly MessageEnds $ends)
    {
    }

    /** Whether a message that a worker has just taken is in time. One that is not has ended. */
    public function isInTime(Job $job): bool
    {
        $until = StartBy::at($job->headers, $job->dueAt);
        // A lease that has ended leaves an error, also where it counts no attempt.
        $isStarted = $until === null || $job->attempts > 1 || $job->lastError !== null;
        if ($isStarted || Queues::call(fn (): float => $this->queues->own()->now()) <= $until) {
            return true;
        }
        try {
            StartBy::isDropped($job->headers) ? $job->ack() : $job->bury('it was not received in time');
            $this->ends->ended($job->body);
        } catch (DelayQueueException) {
            // Cancelled meanwhile; or its lease ends, and somebody else looks again.
        }

        return false;
    }
}
