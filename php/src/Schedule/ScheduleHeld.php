<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use RuntimeException;

/** Runners held the schedule for longer than a lease lasts. Nothing has changed: call again. */
final class ScheduleHeld extends RuntimeException
{
}
