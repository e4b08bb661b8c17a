<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

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

    /** @param string|null $value of a trait: mode 1 · microseconds 8; mode 2: it was started in time */
    public static function of(?string $value): ?self
    {
        return $value === null || $value[0] === "\2" ? null : new self(unpack('J', $value, 1)[1], $value[0] === "\1");
    }

    public function momentUs(int $firstDueUs): int
    {
        return $this->us + ($this->isAfterDue ? $firstDueUs : 0);
    }
}
