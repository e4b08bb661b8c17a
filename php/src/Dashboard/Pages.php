<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DelayQueue\Dashboard\Pages\ErrorsPage;
use DelayQueue\Dashboard\Pages\GroupsPage;
use DelayQueue\Dashboard\Pages\HealthPage;
use DelayQueue\Dashboard\Pages\JobPage;
use DelayQueue\Dashboard\Pages\JournalPage;
use DelayQueue\Dashboard\Pages\Overview;
use DelayQueue\Dashboard\Pages\QueuePage;
use DelayQueue\Dashboard\Pages\SchedulesPage;
use DelayQueue\Dashboard\Pages\WorkersPage;

/** Which page stands where. */
final class Pages
{
    public static function find(string $path): ?Page
    {
        return match ($path) {
            '/' => new Overview(),
            '/queue' => new QueuePage(),
            '/job' => new JobPage(),
            '/errors' => new ErrorsPage(),
            '/groups' => new GroupsPage(),
            '/journal' => new JournalPage(),
            '/schedules' => new SchedulesPage(),
            '/workers' => new WorkersPage(),
            '/health' => new HealthPage(),
            default => null,
        };
    }
}
