<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Countable;
use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\Seconds;
use DelayQueue\NewJob;
use Generator;
use TypeError;
use ValueError;

/**
 * Jobs spread over a time, for pushMany():
 *
 *     $queue->pushMany(Spread::over($jobs, '30m'));
 *
 * @phpstan-type Duration int|float|numeric-string|non-empty-string|DateInterval
 */
final class Spread
{
    private const GOLDEN_RATIO = 0.618033988749895;

    /**
     * These jobs, each with a place in that time on top of the `delay` that it has. What came as a NewJob is one again, and an array an array.
     *
     * Of an array or a Countable the n-th of N jobs comes after n/N of the time, so they keep their order and none comes at its very end. How many jobs a
     * generator has nobody knows: these get places by the golden ratio, which are even for any number of jobs, and not in their order.
     *
     * @param iterable<NewJob|array<string, mixed>> $jobs as pushMany() takes them
     * @param Duration $over
     *
     * @return Generator<int, NewJob|array<string, mixed>> it reads a job when pushMany() asks for it
     *
     * @throws TypeError|ValueError if $over is no duration; while it is read, also if a delay is none
     */
    public static function over(iterable $jobs, int|float|string|DateInterval $over): Generator
    {
        $seconds = Seconds::of($over, self::class . '::over', 'Argument #2 ($over)');

        return self::spread($jobs, $seconds, is_array($jobs) || $jobs instanceof Countable ? count($jobs) : null);
    }

    /** @return Generator<int, NewJob|array<string, mixed>> */
    private static function spread(iterable $jobs, float $seconds, ?int $count): Generator
    {
        $number = 0;
        foreach ($jobs as $job) {
            if (!is_array($job) && !$job instanceof NewJob) {
                yield $job; // pushMany() says that it is none
                continue;
            }
            $place = $count === null ? fmod($number * self::GOLDEN_RATIO, 1) : min($number / max($count, 1), 1);
            $delay = self::later($job instanceof NewJob ? $job->delay : $job['delay'] ?? 0, $place * $seconds, $number);
            yield $job instanceof NewJob ? $job->with(delay: $delay) : ['delay' => $delay] + $job;
            $number++;
        }
    }

    private static function later(mixed $delay, float $seconds, int $number): float|DateTimeImmutable
    {
        $what = "Argument #1 (\$jobs) item $number: delay";
        if ($delay instanceof DateTimeInterface) {
            $unix = Moment::of((float) $delay->format('U.u') + $seconds);

            return $unix->setTimezone($delay->getTimezone());
        }

        if (!is_int($delay) && !is_float($delay) && !is_string($delay) && !$delay instanceof DateInterval) {
            $types = 'DateTimeInterface|DateInterval|string|int|float';
            throw new TypeError(self::class . "::over(): $what must be of type $types, " . get_debug_type($delay) . ' given');
        }

        return $seconds + Seconds::of($delay, self::class . '::over', $what);
    }
}
