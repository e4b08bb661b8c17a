<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DateInterval;
use DateTimeInterface;
use DelayQueue\Exception as DelayQueueException;
use DelayQueue\Internal\Seconds;
use DelayQueue\Job;
use DelayQueue\OnExpiry;
use DelayQueue\Symfony\Stamp\DelayQueueStamp;

/**
 * The time by which a message with a lock must be received. Its worker looks, not Redis, so that its end is seen.
 *
 * @internal
 */
final class Expiry
{
    private const HEADER = 'dq-expires';

    public function __construct(private readonly Queues $queues, private readonly MessageEnds $ends)
    {
    }

    /**
     * The header of a message that is to be received in time.
     *
     * @return array<string, string>
     */
    public static function header(int|float|string|DateInterval|DateTimeInterface $expires, OnExpiry $onExpiry): array
    {
        $time = $expires instanceof DateTimeInterface
            ? '@' . $expires->format('U.u')
            : (string) Seconds::positive($expires, DelayQueueStamp::class . '::__construct', 'Argument #7 ($expires)');

        return [self::HEADER => "$time $onExpiry->value"];
    }

    /** Whether a message that a worker has just taken is in time. One that is not has ended. */
    public function isInTime(Job $job): bool
    {
        // A lease that has ended leaves an error, also where it counts no attempt.
        if (!isset($job->headers[self::HEADER]) || $job->attempts > 1 || $job->lastError !== null) {
            return true;
        }
        [$time, $onExpiry] = explode(' ', $job->headers[self::HEADER]) + ['', ''];
        $until = str_starts_with($time, '@') ? (float) substr($time, 1) : $job->dueAt + (float) $time;
        if (Queues::call(fn (): float => $this->queues->own()->now()) <= $until) {
            return true;
        }
        try {
            $onExpiry === OnExpiry::Drop->value ? $job->ack() : $job->bury('it was not received in time');
            $this->ends->ended($job->body);
        } catch (DelayQueueException) {
            // Cancelled meanwhile; or its lease ends, and somebody else looks again.
        }

        return false;
    }

    /**
     * The headers of a message that was received in time: it may come again as late as it likes.
     *
     * @return array<string, string>|null null: as they are
     */
    public static function without(Job $job): ?array
    {
        return isset($job->headers[self::HEADER]) ? array_diff_key($job->headers, [self::HEADER => 1]) : null;
    }
}
