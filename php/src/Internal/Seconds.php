<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DateInterval;
use DelayQueue\InvalidArgument;

use function DelayQueue\duration;

/**
 * Lengths of time, whose errors name the method of this package that was called.
 *
 * @internal
 */
final class Seconds
{
    /** @param string $argument such as 'Argument #2 ($over)' */
    public static function of(int|float|string|DateInterval $duration, string $method, string $argument): float
    {
        try {
            return duration($duration);
        } catch (InvalidArgument $error) {
            throw Invalid::argument("$method(): $argument", $error->reason, $error);
        }
    }

    /** @throws InvalidArgument also for none */
    public static function positive(int|float|string|DateInterval $duration, string $method, string $argument): float
    {
        $seconds = self::of($duration, $method, $argument);

        return $seconds > 0 ? $seconds : throw Invalid::argument("$method(): $argument", 'must be greater than 0');
    }
}
