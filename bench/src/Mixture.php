<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** The jobs of the case mixed: of each twenty, one came back, one fails, two have a TTR and two a priority of their own. */
final class Mixture
{
    public const PERIOD = 20;

    private const FAILS = 7;

    private const OPTIONS = [
        3 => ['priority' => 100],
        5 => ['ttr' => 30],
        13 => ['priority' => 2000],
        15 => ['ttr' => 30],
    ];

    /** The first job of each period has failed once before the worker starts. */
    public static function hasFailed(int $number): bool
    {
        return $number % self::PERIOD === 0;
    }

    /** The worker's handler fails with this job. */
    public static function fails(int $number): bool
    {
        return $number % self::PERIOD === self::FAILS;
    }

    /** @return array<string, int> options of pushMany() */
    public static function options(int $number): array
    {
        return self::OPTIONS[$number % self::PERIOD] ?? [];
    }
}
