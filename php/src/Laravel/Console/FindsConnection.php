<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Console;

use DelayQueue\Laravel\Manager;
use DelayQueue\Laravel\Queue;

/** For commands with the options --connection and --queue. */
trait FindsConnection
{
    private function connection(): Queue
    {
        return $this->laravel->make(Manager::class)->connection($this->option('connection') ?: null);
    }

    /** Null: all, the default one first. */
    private function queueOption(): ?string
    {
        return $this->option('queue') ?: null;
    }
}
