<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Transport;

use DateInterval;
use DateTimeInterface;
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

    /**
     * How a message ends that is received now, and for the first time.
     *
     * @param callable(): float $now Redis' clock
     *
     * @return OnExpiry|null null: it is in time
     */
    public static function of(Job $job, callable $now): ?OnExpiry
    {
        if (!isset($job->headers[self::HEADER]) || $job->attempts > 1) {
            return null;
        }
        [$time, $onExpiry] = explode(' ', $job->headers[self::HEADER]) + ['', ''];
        $until = str_starts_with($time, '@') ? (float) substr($time, 1) : $job->dueAt + (float) $time;

        return $now() > $until ? OnExpiry::tryFrom($onExpiry) : null;
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
