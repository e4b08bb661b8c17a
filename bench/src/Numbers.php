<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** Medians, percentiles, and numbers as people read them. */
final class Numbers
{
    /** @param non-empty-list<int|float> $values */
    public static function median(array $values): float
    {
        sort($values);
        $middle = intdiv(count($values), 2);

        return (float) (count($values) % 2 === 1 ? $values[$middle] : ($values[$middle - 1] + $values[$middle]) / 2);
    }

    /** @param non-empty-list<int|float> $values */
    public static function percentile(array $values, int $percent): float
    {
        sort($values);

        return (float) $values[(int) round((count($values) - 1) * $percent / 100)];
    }

    /** Three significant digits: more would be noise. */
    public static function show(?float $value): string
    {
        if ($value === null) {
            return '';
        }
        $size = abs($value);

        return number_format($value, match (true) {
            $size >= 100 || $value == (int) $value => 0,
            $size >= 10 => 1,
            $size >= 1 => 2,
            default => 3,
        });
    }
}
