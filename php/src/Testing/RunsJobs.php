<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use DateInterval;
use DateTimeInterface;
use DelayQueue\Flow\Follow;
use DelayQueue\Job;
use DelayQueue\QueueInterface;
use DelayQueue\Testing;
use Error;
use PHPUnit\Exception as PHPUnitException;

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
     * Runs what is due now with drain(), which settles each job as its handler decides and tells the listeners of the queue. Chains and batches
     * go on. An Error or a failed assertion of a handler fails its job, ends the run, and is thrown again for the test; to drain() it is one
     * failed job of many.
     *
     * @param callable(\DelayQueue\Job, QueueInterface): mixed $handler
     * @param string|QueueInterface $queue a name, or an object whose listeners are to hear of it
     * @param int $limit more jobs than this fail the test: a handler that releases without a delay never ends
     *
     * @return int the number of jobs handled
     *
     * @throws Error|PHPUnitException of a handler
     */
    protected function runDueJobs(callable $handler, string|QueueInterface $queue = 'default', int $limit = 1000): int
    {
        $where = is_string($queue) ? " in queue '$queue'" : '';
        $mistake = null;
        $handled = $this->asserted($queue)->drain(new Follow(static function (Job $job, QueueInterface $queue) use ($handler, &$mistake): mixed {
            try {
                return $handler($job, $queue);
            } catch (Error | PHPUnitException $mistake) {
                $queue->stop();
                throw $mistake;
            }
        }), $limit + 1);
        if ($mistake !== null) {
            throw $mistake;
        }
        if ($handled > $limit) {
            static::fail("more than $limit jobs were due$where: is one released without a delay?");
        }

        return $handled;
    }
}
