<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DelayQueue\Testing;

/**
 * A clock for spans of time within this process: nobody can set it back. It goes along with the journeys of tests.
 *
 * @internal
 */
final class Monotonic
{
    /** Seconds since some moment. */
    public static function now(): float
    {
        return hrtime(true) / 1e9 + Testing::offset();
    }
}
