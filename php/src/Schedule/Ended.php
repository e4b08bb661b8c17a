<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use ValueError;

/**
 * No moment is left before the end of the schedule.
 *
 * @internal
 */
final class Ended extends ValueError
{
}
