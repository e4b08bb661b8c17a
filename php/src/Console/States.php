<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\State;

/** States by their names. */
final class States
{
    /** @throws UsageException when there is no such state */
    public static function of(string $name): State
    {
        return State::tryFrom($name) ?? throw new UsageException("there is no state $name: delayed, ready, reserved or buried");
    }
}
