<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\InvalidArgument;

use function DelayQueue\duration;

/** Lengths of time of the command line, written as everywhere: 5, 500ms, 2h30m, PT1H. */
final class Duration
{
    /**
     * @return float seconds
     *
     * @throws UsageException when it is none
     */
    public static function of(string $text, string $name): float
    {
        if (Moment::isUnixTime($text)) {
            $cure = (str_starts_with($name, '-') ? "$name=" : '') . "\$(($text - \$(date +%s)))";
            throw new UsageException("$name must be a duration, and $text looks like a Unix time: for a moment give $cure");
        }
        try {
            return duration($text);
        } catch (InvalidArgument) {
            throw new UsageException("$name must be a duration: seconds, 500ms, 15m, 2h30m or PT15M");
        }
    }

    /** @throws UsageException see of() */
    public static function orNull(?string $text, string $name): ?float
    {
        return $text === null ? null : self::of($text, $name);
    }
}
