<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DateInterval;
use DateTimeInterface;
use Illuminate\Support\Carbon;

/** Laravel's delays in the words of the extension. */
final class Delay
{
    /** A delay that has passed becomes the moment in the past, so that older moments still come first. */
    public static function of(DateTimeInterface|DateInterval|int|float|string|null $delay): int|float|DateTimeInterface
    {
        if ($delay instanceof DateTimeInterface) {
            return $delay;
        }
        $seconds = $delay instanceof DateInterval ? self::seconds($delay) : ($delay ?? 0) + 0;

        return $seconds >= 0 ? $seconds : Carbon::now()->subMicroseconds((int) round(-$seconds * 1e6));
    }

    private static function seconds(DateInterval $delay): float
    {
        $now = Carbon::now()->toDateTimeImmutable();

        return (float) $now->add($delay)->format('U.u') - (float) $now->format('U.u');
    }
}
