<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateInterval;
use DelayQueue\Internal\Seconds;
use ReflectionMethod;
use ReflectionParameter;
use Throwable;
use ValueError;

/**
 * Errors of arguments, worded as PHP words them.
 *
 * @internal
 */
final class Arguments
{
    /** @param string $method as __METHOD__ has it */
    public static function wrong(string $method, string $argument, string $must, ?Throwable $cause = null): ValueError
    {
        $parameters = (new ReflectionMethod(...explode('::', $method)))->getParameters();
        $names = array_map(static fn (ReflectionParameter $parameter): string => $parameter->getName(), $parameters);
        $number = 1 + (int) array_search($argument, $names, true);

        return new ValueError("$method(): Argument #$number (\$$argument) $must", 0, $cause);
    }

    /** An error of another method, about the argument of this name here; null: about the one that has the same name there. */
    public static function relayed(ValueError $error, string $method, ?string $argument = null): ValueError
    {
        return preg_match('/^\S+\(\): Argument #\d+ \(\$(\w+)\) (.+)$/sD', $error->getMessage(), $found) === 1
            ? self::wrong($method, $argument ?? ($found[1] === 'id' ? 'name' : $found[1]), $found[2], $error)
            : $error;
    }

    /** Seconds. */
    public static function duration(int|float|string|DateInterval $value, string $method, string $argument): float
    {
        try {
            return Seconds::of($value, $method, "Argument #1 (\$$argument)");
        } catch (ValueError $error) {
            throw self::relayed($error, $method, $argument);
        }
    }
}
