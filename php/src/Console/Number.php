<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** Whole numbers of the command line. */
final class Number
{
    /** @throws UsageException when it is not a whole number of at least $least and at most $most */
    public static function of(string $text, string $name, int $least = 0, int $most = PHP_INT_MAX): int
    {
        $number = filter_var($text, FILTER_VALIDATE_INT, ['options' => ['min_range' => $least, 'max_range' => $most]]);
        $range = $most === PHP_INT_MAX ? "of at least $least" : "from $least to $most";

        return $number === false ? throw new UsageException("$name must be a whole number $range") : $number;
    }

    /** @throws UsageException see of() */
    public static function orNull(?string $text, string $name, int $least = 0): ?int
    {
        return $text === null ? null : self::of($text, $name, $least);
    }
}
