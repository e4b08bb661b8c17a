<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DateTimeImmutable;
use DateTimeInterface;
use DelayQueue\QueueInterface;
use DelayQueue\ServerException;
use DelayQueue\Testing;

/**
 * Redis' clock beside this host's. Both are moved as far as a test has moved the time.
 *
 * @internal
 */
final class RedisClock
{
    /** Seconds by which it is ahead of this host's; null where the Redis user may not ask. */
    public static function ahead(QueueInterface $queue): ?float
    {
        $before = self::here();
        try {
            $now = $queue->now();
        } catch (ServerException) {
            return null;
        }

        return $now - ($before + self::here()) / 2;
    }

    /** So many seconds from now, for push() and release(). A negative number is a moment in the past, so that older ones still come first. */
    public static function in(int|float $seconds, QueueInterface $queue): int|float|DateTimeImmutable
    {
        return $seconds >= 0 ? $seconds : Moment::of($queue->now() + $seconds);
    }

    /** How long it is until a moment that this host has computed, for reschedule(). */
    public static function until(DateTimeInterface $moment, QueueInterface $queue): int|float|DateTimeImmutable
    {
        return self::in(round((float) $moment->format('U.u') - self::here(), 6), $queue);
    }

    /** This host's clock in Unix seconds. */
    public static function here(): float
    {
        return microtime(true) + (filter_var(ini_get('delayqueue.testing'), FILTER_VALIDATE_BOOL) ? Testing::offset() : 0.0);
    }
}
