<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DateTimeImmutable;
use DateTimeZone;
use UnexpectedValueException;

/**
 * Unix seconds as a moment in UTC, exact to the microsecond.
 *
 * @internal
 */
final class Moment
{
    /** @throws UnexpectedValueException when there is no such moment */
    public static function of(float $seconds): DateTimeImmutable
    {
        $moment = DateTimeImmutable::createFromFormat('U.u', sprintf('%.6F', $seconds), new DateTimeZone('UTC'));

        return $moment ?: throw new UnexpectedValueException("$seconds is not a moment in Unix seconds");
    }
}
