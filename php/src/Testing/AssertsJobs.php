<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use Closure;
use DelayQueue\JobInfo;
use DelayQueue\State;

/**
 * Assertions about the jobs of a queue. A job is named by its id, described by a closure that gets a JobInfo and returns
 * true for a match, or null: any job.
 */
trait AssertsJobs
{
    /** In the queue, in whatever state, $times times (null: at least once). Acknowledged and cancelled jobs are gone. */
    protected function assertPushed(string|Closure|null $job = null, string $queue = 'default', ?int $times = null): void
    {
        $found = $this->findJobs($queue, $job, State::cases());
        static::assertNotEmpty($found, $this->describeMiss($job, $queue, 'in the queue'));
        if ($times !== null) {
            static::assertCount($times, $found, "jobs as described in queue '$queue'");
        }
    }

    /** In the queue in no state. */
    protected function assertNotPushed(string|Closure|null $job = null, string $queue = 'default'): void
    {
        $ids = array_map(static fn (JobInfo $info): string => $info->id, $this->findJobs($queue, $job, State::cases()));
        static::assertSame([], $ids, "jobs in queue '$queue' that should not be there");
    }

    /** @param int|float|null $delay seconds between the push and the due time, give or take half a one; null: any */
    protected function assertDelayed(string|Closure|null $job = null, string $queue = 'default', int|float|null $delay = null): void
    {
        $found = $this->findJobs($queue, $job, [State::Delayed]);
        static::assertNotEmpty($found, $this->describeMiss($job, $queue, 'delayed'));
        if ($delay !== null) {
            // The delay counts from the moment at which Redis gets the job, and createdAt is the producer's clock before that.
            $asDelayed = array_filter($found, static fn (JobInfo $info): bool => abs($info->dueAt - $info->createdAt - $delay) < 0.5);
            static::assertNotEmpty($asDelayed, $this->describeMiss($job, $queue, "delayed by $delay s"));
        }
    }

    protected function assertReserved(string|Closure|null $job = null, string $queue = 'default'): void
    {
        static::assertNotEmpty($this->findJobs($queue, $job, [State::Reserved]), $this->describeMiss($job, $queue, 'reserved'));
    }

    /** @param string|null $reason words that its last error contains; null: any */
    protected function assertBuried(string|Closure|null $job = null, string $queue = 'default', ?string $reason = null): void
    {
        $found = $this->findJobs($queue, $job, [State::Buried]);
        static::assertNotEmpty($found, $this->describeMiss($job, $queue, 'buried'));
        if ($reason !== null) {
            $errors = array_map(static fn (JobInfo $info): string => $info->lastError ?? '', $found);
            static::assertStringContainsString($reason, implode("\n", $errors));
        }
    }

    /** No job in any state. */
    protected function assertQueueEmpty(string $queue = 'default'): void
    {
        $this->assertNotPushed(null, $queue);
    }

    /**
     * @param array<State> $states
     *
     * @return list<JobInfo>
     */
    private function findJobs(string $queue, string|Closure|null $job, array $states): array
    {
        $delayQueue = $this->delayQueue($queue);
        $matches = match (true) {
            $job === null => static fn (JobInfo $info): bool => true,
            is_string($job) => static fn (JobInfo $info): bool => $info->id === $job,
            default => $job,
        };
        $found = [];
        foreach ($states as $state) {
            for ($offset = 0; ($page = $delayQueue->list($state, $offset, 500)) !== []; $offset += count($page)) {
                array_push($found, ...array_values(array_filter($page, $matches)));
            }
        }

        return $found;
    }

    /** "job 'order-1' is not delayed. Queue 'default' has: ready order-1; buried order-2" */
    private function describeMiss(string|Closure|null $job, string $queue, string $expected): string
    {
        $wanted = match (true) {
            $job === null => 'a job',
            is_string($job) => "job '$job'",
            default => 'a job as described',
        };
        $present = array_map(
            static fn (JobInfo $info): string => "{$info->state->value} {$info->id}",
            $this->findJobs($queue, null, State::cases()),
        );

        return "$wanted is not $expected. Queue '$queue' has: " . (implode('; ', $present) ?: 'no jobs');
    }
}
