<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use BadMethodCallException;
use DelayQueue\Laravel\Payload;
use DelayQueue\Laravel\QueueName;
use DelayQueue\State;
use Illuminate\Queue\Jobs\InspectedJob;
use Illuminate\Support\Collection;

/** Sizes and contents. Buried jobs count nowhere: to Laravel they have failed. */
trait InspectsQueue
{
    private const PAGE = 500;

    public function size($queue = null)
    {
        $stats = $this->native($queue)->stats();

        return $stats->delayed + $stats->ready + $stats->reserved;
    }

    public function pendingSize($queue = null)
    {
        return $this->native($queue)->count(State::Ready);
    }

    public function delayedSize($queue = null)
    {
        return $this->native($queue)->count(State::Delayed);
    }

    public function reservedSize($queue = null)
    {
        return $this->native($queue)->count(State::Reserved);
    }

    /** @return int|null Unix seconds; delayed jobs are not pending */
    public function creationTimeOfOldestPendingJob($queue = null)
    {
        $oldest = $this->native($queue)->peekReady();

        return $oldest === null ? null : (int) (json_decode($oldest->body, true)['createdAt'] ?? $oldest->createdAt);
    }

    /** Horizon's name for the jobs that a worker could take now. */
    public function readyNow($queue = null): int
    {
        return $this->pendingSize($queue);
    }

    public function totalSize(): int
    {
        return $this->allQueues()->sum(fn (string $queue): int => $this->size($queue));
    }

    public function totalPendingSize(): int
    {
        return $this->allQueues()->sum(fn (string $queue): int => $this->pendingSize($queue));
    }

    public function totalDelayedSize(): int
    {
        return $this->allQueues()->sum(fn (string $queue): int => $this->delayedSize($queue));
    }

    public function totalReservedSize(): int
    {
        return $this->allQueues()->sum(fn (string $queue): int => $this->reservedSize($queue));
    }

    public function pendingJobs($queue = null): Collection
    {
        return $this->inspected($queue, State::Ready);
    }

    public function delayedJobs($queue = null): Collection
    {
        return $this->inspected($queue, State::Delayed);
    }

    public function reservedJobs($queue = null): Collection
    {
        return $this->inspected($queue, State::Reserved);
    }

    public function allPendingJobs(): Collection
    {
        return $this->allQueues()->flatMap($this->pendingJobs(...));
    }

    public function allDelayedJobs(): Collection
    {
        return $this->allQueues()->flatMap($this->delayedJobs(...));
    }

    public function allReservedJobs(): Collection
    {
        return $this->allQueues()->flatMap($this->reservedJobs(...));
    }

    /** @return Collection<int, string> the names of all queues that were ever pushed to */
    public function allQueues(): Collection
    {
        return (new Collection($this->native()->queues()))->map(QueueName::decode(...));
    }

    /** @return Collection<int, InspectedJob> */
    private function inspected(mixed $queue, State $state): Collection
    {
        if (!class_exists(InspectedJob::class)) {
            throw new BadMethodCallException('Looking at the jobs of a queue needs Laravel 13: use native()->list()');
        }
        $native = $this->native($queue);
        $name = $this->getQueue($queue);
        $found = [];
        for ($last = null; ($page = $native->list($state, 0, self::PAGE, $last)) !== []; $last = end($page)) {
            foreach ($page as $info) {
                // By its id: a renewed lease moves a job behind those that are still to come.
                $members = Payload::of($info->body, $info->id)->members;
                $body = json_encode($members, JSON_THROW_ON_ERROR);
                $found[$info->id] = InspectedJob::fromPayload($body, $info->attempts, $name);
            }
        }

        return new Collection(array_values($found));
    }
}
