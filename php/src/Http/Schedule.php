<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use DateInterval;
use DelayQueue\Backoff;

/**
 * The classic times of a notification, as what push() and NewJob need for them:
 *
 *     $queue->push(['url' => $url, 'body' => $event], ...Schedule::stages(), id: 'paid-4711');
 *
 * The first attempt is made when the job is due; the delays are those before the further ones. When all have failed, the job
 * is buried.
 *
 * @phpstan-type Duration int|float|numeric-string|non-empty-string|DateInterval
 */
final class Schedule
{
    /** A little more than a day. */
    public const STAGES = '15s 3m 10m 30m 30m 1h 2h 6h 15h';

    /**
     * One delay after another: by default 15 s, 3, 10, 30, 30 minutes, 1, 2, 6 and 15 hours, so ten attempts.
     *
     * @param non-empty-string|non-empty-array<Duration> $delays as in Backoff::stages()
     *
     * @return array{backoff: Backoff, maxAttempts: positive-int}
     */
    public static function stages(string|array $delays = self::STAGES): array
    {
        $delays = is_string($delays) ? preg_split('/[\s,]+/', $delays, flags: PREG_SPLIT_NO_EMPTY) : $delays;

        return ['backoff' => Backoff::stages($delays), 'maxAttempts' => count($delays) + 1];
    }

    /**
     * $step * n + $base after the n-th attempt: by default n * 2 + 1 minutes ten times, so 3, 5, 7 … 21 minutes and eleven
     * attempts.
     *
     * @param int<0, max> $times
     * @param Duration $step
     * @param Duration $base
     *
     * @return array{backoff: Backoff, maxAttempts: positive-int}
     */
    public static function linear(
        int $times = 10,
        int|float|string|DateInterval $step = '2m',
        int|float|string|DateInterval $base = '1m',
    ): array {
        return ['backoff' => Backoff::linear($step, $base), 'maxAttempts' => $times + 1];
    }
}
