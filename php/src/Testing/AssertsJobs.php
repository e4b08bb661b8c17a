<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use Closure;
use DelayQueue\QueueInterface;

/**
 * Assertions about the jobs of a queue. A job is named by its id, described by a closure that gets a JobInfo and returns
 * true for a match, or null: any job. A queue is named, or is an object. With $group, only jobs of that group are meant. JobAssertions has the
 * same as static calls.
 */
trait AssertsJobs
{
    /**
     * The queue of this name.
     *
     * @param array<string, mixed> $options as in the constructor of DelayQueue
     */
    abstract protected function delayQueue(string $queue = 'default', array $options = []): QueueInterface;

    /** In the queue, in whatever state, $times times (null: at least once). Acknowledged and cancelled jobs are gone. */
    protected function assertPushed(
        string|Closure|null $job = null,
        string|QueueInterface $queue = 'default',
        ?int $times = null,
        ?string $group = null,
    ): void {
        JobAssertions::pushed($this->asserted($queue), $job, $times, is_string($queue) ? $queue : '', $group);
    }

    /** In the queue in no state. */
    protected function assertNotPushed(
        string|Closure|null $job = null,
        string|QueueInterface $queue = 'default',
        ?string $group = null,
    ): void {
        JobAssertions::notPushed($this->asserted($queue), $job, is_string($queue) ? $queue : '', $group);
    }

    /** @param int|float|null $delay seconds between the push and the due time, give or take half a one; null: any */
    protected function assertDelayed(
        string|Closure|null $job = null,
        string|QueueInterface $queue = 'default',
        int|float|null $delay = null,
        ?string $group = null,
    ): void {
        JobAssertions::delayed($this->asserted($queue), $job, $delay, is_string($queue) ? $queue : '', $group);
    }

    protected function assertReserved(
        string|Closure|null $job = null,
        string|QueueInterface $queue = 'default',
        ?string $group = null,
    ): void {
        JobAssertions::reserved($this->asserted($queue), $job, is_string($queue) ? $queue : '', $group);
    }

    /** @param string|null $reason words that its last error contains; null: any */
    protected function assertBuried(
        string|Closure|null $job = null,
        string|QueueInterface $queue = 'default',
        ?string $reason = null,
        ?string $group = null,
    ): void {
        JobAssertions::buried($this->asserted($queue), $job, $reason, is_string($queue) ? $queue : '', $group);
    }

    /** No job in any state. */
    protected function assertQueueEmpty(string|QueueInterface $queue = 'default'): void
    {
        $this->assertNotPushed(null, $queue);
    }

    private function asserted(string|QueueInterface $queue): QueueInterface
    {
        return is_string($queue) ? $this->delayQueue($queue) : $queue;
    }
}
