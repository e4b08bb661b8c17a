<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** The commands that change one schedule. */
enum ScheduleOrder: string
{
    case Pause = 'pause';
    case Resume = 'resume';
    case Run = 'run';
    case Remove = 'remove';

    /** In the past tense. */
    public function done(): string
    {
        return match ($this) {
            self::Pause => 'paused',
            self::Resume => 'resumed',
            self::Run => 'run',
            self::Remove => 'removed',
        };
    }

    public function description(): string
    {
        return match ($this) {
            self::Pause => 'Keeps schedules from pushing jobs; moments that are left out are not caught up',
            self::Resume => 'Ends a pause: schedules go on with their next moments',
            self::Run => 'Pushes a job of each schedule now and prints its id; the next moment stays',
            self::Remove => 'Removes schedules; jobs that they have pushed stay',
        };
    }
}
