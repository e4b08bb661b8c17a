<?php

declare(strict_types=1);

namespace Psr\Clock;

/** The interface of the package psr/clock, for tests where it is not installed. */
interface ClockInterface
{
    public function now(): \DateTimeImmutable;
}
