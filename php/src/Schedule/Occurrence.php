<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateTimeImmutable;
use DateTimeZone;

/**
 * The name of one run of a schedule, which is the id of its job.
 *
 * @internal
 */
final class Occurrence
{
    public static function id(string $schedule, DateTimeImmutable $moment): string
    {
        return "$schedule@" . self::moment($moment);
    }

    /** In UTC, with milliseconds where there are some. */
    public static function moment(DateTimeImmutable $moment): string
    {
        $utc = $moment->setTimezone(new DateTimeZone('UTC'));

        return $utc->format($utc->format('v') === '000' ? 'Y-m-d\TH:i:s\Z' : 'Y-m-d\TH:i:s.v\Z');
    }
}
