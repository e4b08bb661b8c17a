<?php

declare(strict_types=1);

namespace DelayQueue\Console\Check;

use DelayQueue\Console\Duration;
use DelayQueue\Console\Number;
use DelayQueue\Console\Text;
use DelayQueue\Stats;

/** A number of a queue that a limit is about. Its value is the name of the option. */
enum Measure: string
{
    case Age = 'max-age';
    case Buried = 'max-buried';
    case Lateness = 'max-lateness-p99';
    case Workers = 'min-workers';

    public function description(): string
    {
        return match ($this) {
            self::Age => 'How long the oldest ready job may have been due: 60s, 5m',
            self::Buried => 'How many jobs may be buried',
            self::Lateness => 'How late 99 of 100 jobs of the last hour may have been served: 500ms, 5s',
            self::Workers => 'How many workers there have to be',
        };
    }

    public function read(string $text, string $option): float
    {
        return match ($this) {
            self::Age, self::Lateness => Duration::of($text, $option),
            self::Buried, self::Workers => (float) Number::of($text, $option),
        };
    }

    /**
     * Seconds, jobs or workers; null: nothing can be said, or the queue is slow on purpose. A pause makes jobs old. Limits of groups make them late,
     * and the lateness does not tell jobs of such a group from others.
     */
    public function value(Stats $stats): ?float
    {
        return match ($this) {
            self::Age => $stats->paused ? null : $stats->oldestReadyAge ?? 0.0,
            self::Buried => (float) $stats->buried,
            self::Lateness => $stats->paused || $stats->blocked > 0 ? null : $stats->lateness()['p99'] / 1000,
            self::Workers => $stats->workers === null ? null : (float) (array_sum($stats->workers) - $stats->workers['stopping']),
        };
    }

    public function isPassed(float $value, float $limit): bool
    {
        return $this === self::Workers ? $value < $limit : $value > $limit;
    }

    /** As JSON has it: seconds, or a whole number. */
    public function number(float $value): int|float
    {
        return match ($this) {
            self::Age, self::Lateness => $value,
            self::Buried, self::Workers => (int) $value,
        };
    }

    /** Whether $one is worse than $other. */
    public function isWorse(float $one, float $other): bool
    {
        return $this->isPassed($one, $other);
    }

    public function words(float $value): string
    {
        return match ($this) {
            self::Age => 'oldest ready job ' . Text::length($value),
            self::Buried => "$value buried",
            self::Lateness => 'lateness p99 ' . Text::length($value),
            self::Workers => $value === 1.0 ? '1 worker' : "$value workers",
        };
    }

    /** The limit behind the words. */
    public function limitWords(float $limit): string
    {
        return match ($this) {
            self::Age, self::Lateness => 'limit ' . Text::length($limit),
            self::Buried => "limit $limit",
            self::Workers => "at least $limit",
        };
    }
}
