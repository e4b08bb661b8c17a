<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use DelayQueue\Laravel\Worker;

/** A worker for which some queues are paused, as they are by the cache of Laravel 12 and newer. */
final class PausingWorker extends Worker
{
    /** @var list<string> */
    public array $pausedNow = [];

    protected function getPausedQueues($connectionName, $queues)
    {
        return array_values(array_intersect($queues, $this->pausedNow));
    }
}
