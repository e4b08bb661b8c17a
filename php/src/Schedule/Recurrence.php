<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateTimeImmutable;
use DateTimeInterface;

/**
 * The moments of a schedule: Cron or Every.
 *
 * @internal
 */
interface Recurrence
{
    /** The first moment after this one; null: there is none. */
    public function next(DateTimeInterface $after): ?DateTimeImmutable;

    /** The last moment that is not after this one; null: there is none within forty years. */
    public function last(DateTimeInterface $upTo): ?DateTimeImmutable;

    /** Whether it is one of its moments. */
    public function isAt(DateTimeInterface $moment): bool;

    /** @return array<string, string|float> as definitions have it */
    public function toArray(): array;

    /** For people. */
    public function __toString(): string;
}
