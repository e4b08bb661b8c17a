<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DateInterval;
use DelayQueue\Release;
use ValueError;

/**
 * Durations as the extension reads them: 90, '90s', 'PT90S', a DateInterval.
 *
 * @internal
 */
final class Seconds
{
    /** @throws ValueError that names the method and the argument, such as 'Argument #2 ($over)', instead of the extension's own */
    public static function of(int|float|string|DateInterval $duration, string $method, string $argument): float
    {
        try {
            return (new Release($duration))->delay;
        } catch (ValueError $error) {
            throw new ValueError("$method(): " . preg_replace('/^.*?Argument #1 \(\$delay\)/', $argument, $error->getMessage()));
        }
    }

    /** @throws ValueError also for none */
    public static function positive(int|float|string|DateInterval $duration, string $method, string $argument): float
    {
        $seconds = self::of($duration, $method, $argument);

        return $seconds > 0 ? $seconds : throw new ValueError("$method(): $argument must be greater than 0");
    }
}
