<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\Seconds;
use DelayQueue\QueueInterface;
use ValueError;

/**
 * The new times of many jobs, one after another. In whole microseconds: floats of Unix seconds cannot be compared after an addition.
 *
 * @internal
 */
final class Times
{
    private int $given = 0;

    private function __construct(private readonly int $firstUs, private float $stepUs)
    {
    }

    /**
     * After a delay the jobs are a microsecond apart, since Redis serves jobs of one moment in the order of their ids.
     *
     * @param string $method and the argument of it, for errors
     *
     * @throws ValueError
     */
    public static function after(QueueInterface $queue, int|float|string|DateInterval|DateTimeInterface $delay, string $method, string $argument): self
    {
        if ($delay instanceof DateTimeInterface) {
            return new self(self::us((float) $delay->format('U.u')), 0);
        }
        $seconds = Seconds::of($delay, $method, $argument);

        return new self(self::us($queue->now()) + self::us($seconds), 1);
    }

    /**
     * @param string $method and the argument of it, for errors
     *
     * @throws ValueError
     */
    public static function spread(QueueInterface $queue, int|float|string|DateInterval $length, string $method, string $argument): self
    {
        return new self(self::us($queue->now()), 1_000_000 * Seconds::positive($length, $method, $argument));
    }

    /** Spreads so many jobs. */
    public function over(int $jobs): void
    {
        $this->stepUs /= max(1, $jobs);
    }

    public function next(): DateTimeImmutable
    {
        return Moment::of(($this->firstUs + (int) ($this->stepUs * $this->given++)) / 1_000_000);
    }

    /** Whether a job is due at a time of next(). */
    public function hasGiven(float $dueAt): bool
    {
        $us = self::us($dueAt) - $this->firstUs;

        return $this->given > 0 && $us >= 0 && $us <= $this->stepUs * ($this->given - 1);
    }

    private static function us(float $seconds): int
    {
        return (int) round($seconds * 1_000_000);
    }
}
