<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\JobInfo;

/** A job as list and show print it. */
final class JobView
{
    /** @return array<string, mixed> for JSON; times in Unix seconds */
    public static function toArray(JobInfo $job): array
    {
        return ['state' => $job->state->value, 'backoff' => (string) $job->backoff] + get_object_vars($job);
    }

    /** @return array<string, string> for people */
    public static function toText(JobInfo $job): array
    {
        return array_filter([
            'id' => $job->id,
            'queue' => $job->queue,
            'state' => $job->state->value,
            'due' => Text::momentAndDistance($job->dueAt),
            'created' => Text::momentAndDistance($job->createdAt),
            'lease until' => $job->leaseUntil === null ? '' : Text::momentAndDistance($job->leaseUntil),
            'attempts' => $job->attempts . ($job->maxAttempts === 0 ? '' : " of $job->maxAttempts"),
            'priority' => (string) $job->priority,
            'ttr' => Text::length($job->ttr),
            'time limit' => $job->timeout > 0 ? Text::length($job->timeout) : '',
            'backoff' => (string) $job->backoff,
            'history' => self::history($job),
            'last error' => $job->lastError ?? '',
            'payload' => $job->body,
        ], static fn (string $text): bool => $text !== '');
    }

    private static function history(JobInfo $job): string
    {
        $counts = array_filter([
            'leases expired' => $job->timeouts, 'releases' => $job->releases, 'buries' => $job->buries, 'kicks' => $job->kicks,
        ]);
        $count = static fn (string $what, int $count): string => "$what: $count";

        return implode(', ', array_map($count, array_keys($counts), $counts));
    }
}
