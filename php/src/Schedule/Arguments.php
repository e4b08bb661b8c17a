<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateInterval;
use DelayQueue\Internal\Invalid;
use DelayQueue\Internal\Parameters;
use DelayQueue\InvalidArgument;
use Throwable;

use function DelayQueue\duration;

/**
 * Errors of arguments, worded as PHP words them.
 *
 * @internal
 */
final class Arguments
{
    /** @param string $method as __METHOD__ has it */
    public static function wrong(string $method, string $argument, string $must, ?Throwable $cause = null): InvalidArgument
    {
        $number = 1 + (int) array_search($argument, array_keys(Parameters::of($method)), true);

        return Invalid::argument("$method(): Argument #$number (\$$argument)", $must, $cause);
    }

    /** Seconds. */
    public static function duration(int|float|string|DateInterval $value, string $method, string $argument): float
    {
        try {
            return duration($value);
        } catch (InvalidArgument $error) {
            throw self::wrong($method, $argument, $error->reason, $error);
        }
    }
}
