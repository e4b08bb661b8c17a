<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DateTimeInterface;

/**
 * A moment that ends a job: one on the clock, or a time after the job fell due first.
 *
 * @internal
 */
final class Limit
{
    private function __construct(private readonly int $us, private readonly bool $isAfterDue)
    {
    }

    /**
     * @param mixed $given the argument
     * @param float|null $moment what it means for a job that falls due then; null: there is none
     */
    public static function of(mixed $given, ?float $moment, float $dueAt): ?self
    {
        $isAfterDue = $given !== null && !$given instanceof DateTimeInterface;

        return $moment === null ? null : new self(Store::us($moment) - ($isAfterDue ? Store::us($dueAt) : 0), $isAfterDue);
    }

    public function momentUs(int $firstDueUs): int
    {
        return $this->us + ($this->isAfterDue ? $firstDueUs : 0);
    }
}
