<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

/** The outcome of a change, as the page after it says. */
enum Told: string
{
    case Paused = 'paused';
    case Resumed = 'resumed';
    case Pushed = 'pushed';
    case Kicked = 'kicked';
    case Cancelled = 'cancelled';
    case Rescheduled = 'rescheduled';
    case Updated = 'updated';
    case Unchanged = 'unchanged';
    case Found = 'found';
    case GroupClosed = 'group-closed';
    case GroupOpened = 'group-opened';
    case ScheduleRun = 'schedule-run';
    case SchedulePaused = 'schedule-paused';
    case ScheduleResumed = 'schedule-resumed';
    case ScheduleRemoved = 'schedule-removed';
    case NoSchedule = 'no-schedule';
    case Ordered = 'ordered';
    case NoWorker = 'no-worker';

    /**
     * @param int $done of many jobs: how many were changed
     * @param int $left and how many were found and left
     */
    public function sentence(int $done, int $left): string
    {
        return match ($this) {
            self::Paused => 'The queue is paused: no worker gets its jobs.',
            self::Resumed => 'The queue is open again.',
            self::Pushed => 'The job was pushed.',
            self::Kicked => 'The job is ready now.',
            self::Cancelled => 'The job was cancelled.',
            self::Rescheduled => 'The job has a new time.',
            self::Updated => 'The job has a new payload.',
            self::Unchanged => 'Nothing was changed: the job is gone, or in a state in which that cannot be done.',
            self::Found => 'Jobs that are changed: ' . Words::number($done) . '.'
                . ($left === 0 ? '' : ' Jobs that are left as they are: ' . Words::number($left) . '.'),
            self::GroupClosed => 'The group is closed: no worker gets its jobs.',
            self::GroupOpened => 'The group is open again.',
            self::ScheduleRun => 'A job of the schedule was pushed.',
            self::SchedulePaused => 'The schedule is paused: it pushes nothing.',
            self::ScheduleResumed => 'The schedule goes on with its next moment.',
            self::ScheduleRemoved => 'The schedule was removed.',
            self::NoSchedule => 'Nothing was changed: there is no such schedule, or it was like that.',
            self::Ordered => 'The worker was told. It hears that within 12 seconds.',
            self::NoWorker => 'That worker is not there any more.',
        };
    }
}
