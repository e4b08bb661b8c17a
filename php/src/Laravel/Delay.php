<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DateInterval;
use DateTimeInterface;
use DelayQueue;
use DelayQueue\Internal\RedisClock;
use Illuminate\Support\Carbon;

/**
 * Laravel's delays in the words of the extension. A moment such as now()->addMinutes(15) comes of this host's clock, so it becomes a delay by that
 * clock, which Redis then counts by its own.
 */
final class Delay
{
    public static function of(DateTimeInterface|DateInterval|int|float|string|null $delay, DelayQueue $queue): int|float|DateTimeInterface
    {
        return RedisClock::in(self::inSeconds($delay), $queue);
    }

    /** Negative: it has passed. */
    public static function inSeconds(DateTimeInterface|DateInterval|int|float|string|null $delay): int|float
    {
        return match (true) {
            $delay instanceof DateTimeInterface => self::seconds(Carbon::now(), $delay),
            $delay instanceof DateInterval => self::seconds($now = Carbon::now()->toDateTimeImmutable(), $now->add($delay)),
            default => ($delay ?? 0) + 0,
        };
    }

    private static function seconds(DateTimeInterface $from, DateTimeInterface $to): float
    {
        return round((float) $to->format('U.u') - (float) $from->format('U.u'), 6);
    }
}
