<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use DateInterval;
use DateTimeInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Testing;

/** Moves time, and runs the jobs that are due. */
trait RunsJobs
{
    use AssertsJobs;

    /** Moves time for every queue of this process: seconds, '15m' or a DateInterval; journeys add up. */
    protected function travel(int|float|string|DateInterval $by): void
    {
        Testing::travel($by);
    }

    /** Moves time to a moment, from where it goes on. */
    protected function travelTo(DateTimeInterface $moment): void
    {
        Testing::travelTo($moment);
    }

    /**
     * Runs what is due now with consume(), which settles each job as its handler decides and tells the listeners of the queue.
     *
     * @param callable(\DelayQueue\Job, QueueInterface): mixed $handler
     * @param string|QueueInterface $queue a name, or an object whose listeners are to hear of it
     * @param int $limit more jobs than this fail the test: a handler that releases without a delay never ends
     *
     * @return int the number of jobs handled
     */
    protected function runDueJobs(callable $handler, string|QueueInterface $queue = 'default', int $limit = 1000): int
    {
        $where = is_string($queue) ? " in queue '$queue'" : '';
        $handled = $this->asserted($queue)->drain($handler, $limit + 1);
        if ($handled > $limit) {
            static::fail("more than $limit jobs were due$where: is one released without a delay?");
        }

        return $handled;
    }
}
