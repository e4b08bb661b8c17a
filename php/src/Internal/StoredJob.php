<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DelayQueue\JobInfo;
use DelayQueue\PreparedJob;

/**
 * A job that is, or would be, stored, as one to push.
 *
 * @internal
 */
final class StoredJob
{
    /** Of queues that it can be pushed to: its payload is bytes, and has been checked. */
    public const QUEUE = ['format' => 'raw', 'maxPayload' => 512 << 20];

    /** @return array<string, mixed> for pushMany() or pushOnce(), all but its time and its past */
    public static function item(JobInfo|PreparedJob $job): array
    {
        return [
            'id' => $job->id,
            'payload' => $job->body,
            'priority' => $job->priority,
            'ttr' => $job->ttr,
            'maxAttempts' => $job->maxAttempts,
            'backoff' => $job->backoff,
            'timeout' => $job->timeout,
            'headers' => $job->headers,
            'extras' => $job->extras,
        ];
    }
}
