<?php

declare(strict_types=1);

namespace DelayQueue\Search;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\Seconds;
use ValueError;

/**
 * The new times of many jobs, one after another. In whole microseconds: floats of Unix seconds cannot be compared after an addition.
 *
 * @internal
 */
final class Times
{
    private function __construct(
        private readonly Position $position,
        private readonly int $firstUs,
        private readonly float $stepUs,
    ) {
    }

    /**
     * After a delay the jobs are a microsecond apart, since Redis serves jobs of one moment in the order of their ids.
     *
     * @param float $seconds from when the first pass began
     */
    public static function after(Position $position, int $startedUs, float $seconds): self
    {
        return new self($position, $startedUs + self::us($seconds), 1);
    }

    public static function at(Position $position, DateTimeInterface $moment): self
    {
        return new self($position, self::us((float) $moment->format('U.u')), 0);
    }

    /** @param float $seconds over which all counted jobs come back */
    public static function spread(Position $position, int $startedUs, float $seconds): self
    {
        return new self($position, $startedUs, 1_000_000 * $seconds / max(1, $position->counted));
    }

    public function next(): DateTimeImmutable
    {
        return Moment::of(($this->firstUs + (int) ($this->stepUs * $this->position->given++)) / 1_000_000);
    }

    /** Whether a job is due at a time of next(). */
    public function hasGiven(float $dueAt): bool
    {
        $us = self::us($dueAt) - $this->firstUs;

        return $this->position->given > 0 && $us >= 0 && $us <= $this->stepUs * ($this->position->given - 1);
    }

    public static function us(float $seconds): int
    {
        return (int) round($seconds * 1_000_000);
    }
}
