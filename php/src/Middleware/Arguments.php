<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use DateInterval;
use DelayQueue\Internal\Invalid;
use DelayQueue\Internal\Seconds;
use DelayQueue\InvalidArgument;
use Throwable;

/**
 * Checks the arguments of constructors here, in PHP's words.
 *
 * @internal
 */
final class Arguments
{
    /** @return float the seconds of a duration, greater than 0 */
    public static function duration(int|float|string|DateInterval $duration, string $class, string $argument): float
    {
        return Seconds::positive($duration, "$class::__construct", "Argument $argument");
    }

    /**
     * A class that is no exception would never match, as little as a name with a typing error.
     *
     * @param list<string> $names
     * @param string|null $argument null: each name is one
     *
     * @return list<class-string>
     */
    public static function exceptions(array $names, string $class, ?string $argument = null): array
    {
        foreach ($names as $index => $name) {
            if (!is_a($name, Throwable::class, true) && !interface_exists($name)) {
                throw $argument === null
                    ? self::error($class, '#' . ($index + 1), "must be an exception class or an interface, \"$name\" given")
                    : self::error($class, $argument, "must be a list of exception classes and interfaces, \"$name\" given");
            }
        }

        return $names;
    }

    public static function error(string $class, string $argument, string $must): InvalidArgument
    {
        return Invalid::argument("$class::__construct(): Argument $argument", $must);
    }
}
