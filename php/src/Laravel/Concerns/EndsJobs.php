<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

use Closure;
use DelayQueue;
use DelayQueue\CancelledException;
use DelayQueue\Internal\OwnHeaders;
use DelayQueue\JobInfo;
use DelayQueue\Laravel\Held;
use DelayQueue\Laravel\Job;
use DelayQueue\Laravel\JobEnds;
use DelayQueue\Laravel\QueueName;
use DelayQueue\Search\Search;
use DelayQueue\State;
use Illuminate\Contracts\Cache\LockProvider;
use Illuminate\Contracts\Cache\Repository as Cache;

/** Jobs that end without their handler: locks, batches and chains hear of it through JobEnds. */
trait EndsJobs
{
    /**
     * Removes jobs that were found. One that runs at this moment runs to its end, and settles itself; a buried one has
     * failed already.
     *
     * @return int how many there were still
     */
    public function cancelFound(DelayQueue $native, JobInfo ...$jobs): int
    {
        $plain = [];
        $cancelled = 0;
        foreach ($jobs as $job) {
            if (!self::holds($job) || !self::isLeft($native, $job) || !self::isTaken($native, $job)) {
                $plain[] = $job->id;
            } elseif ($native->cancel($job->id) > 0) {
                ++$cancelled;
                $this->settleRemoved($job, 'was cancelled');
            }
        }

        return $cancelled + ($plain === [] ? 0 : $native->cancel(...$plain));
    }

    /**
     * Deletes all jobs but the buried.
     *
     * @param string|\UnitEnum|null $queue
     *
     * @return int how many
     */
    public function clear($queue = null)
    {
        $native = $this->native($queue);
        $settle = fn (array $jobs): int => $this->cancelFound($native, ...array_filter($jobs, self::holds(...)));

        return Search::in($native, State::Delayed, State::Ready, State::Reserved)->cancel(by: $settle)
            + $native->purge(State::Delayed, State::Ready, State::Reserved);
    }

    /** @internal for a job that was cancelled while it ran, and wanted to be tried again */
    public function settleLost(Job $job): void
    {
        $old = $job->native();
        $payload = (array) $job->payload();
        $there = $this->native($job->getQueue())->peek($old->id);
        if ($there === null || self::uuid(self::decoded($there->body)) !== self::uuid($payload)) {
            $why = self::cancelled($old->id, $job->getQueue(), 'was cancelled');
            $this->ends()->removed($payload, $why, wasStarted: true);
        }
    }

    /** @param string|null $survivor the payload of the job that has its id now */
    private function settleRemoved(JobInfo $job, string $how, ?string $survivor = null): void
    {
        $why = self::cancelled($job->id, QueueName::decode($job->queue), $how);
        $wasStarted = $job->attempts + $job->releases + $job->timeouts > 0;
        $this->ends()->removed(self::decoded($job->body), $why, self::decoded($survivor ?? ''), $wasStarted);
    }

    private function settleReplaced(DelayQueue $native, JobInfo $old, string $new): void
    {
        $isOther = self::uuid(self::decoded($old->body)) !== self::uuid(self::decoded($new));
        if ($isOther && self::holds($old) && self::isLeft($native, $old)) {
            $this->settleRemoved($old, 'was replaced', $new);
        }
    }

    /** @param list<string> $payloads of rows that were deleted */
    private function settleRows(array $payloads, string $id, string $queue): void
    {
        foreach ($payloads as $payload) {
            $this->ends()->removed(self::decoded($payload), self::cancelled($id, $queue, 'was cancelled'));
        }
    }

    /** It has something that is to be released or counted at its end. A copy has not. */
    private static function holds(JobInfo $job): bool
    {
        return !isset($job->headers[OwnHeaders::COPY]) && Held::mayBeIn(self::decoded($job->body));
    }

    /** Nobody else settles it: it waits, or its worker is dead. */
    private static function isLeft(DelayQueue $native, JobInfo $job): bool
    {
        return match ($job->state) {
            State::Delayed, State::Ready => true,
            State::Reserved => $job->leaseUntil !== null && $job->leaseUntil <= $native->now(),
            State::Buried => false,
        };
    }

    /** Takes a waiting job out of the reach of workers. False: one has begun it since, and settles it. */
    private static function isTaken(DelayQueue $native, JobInfo $job): bool
    {
        if ($job->state === State::Reserved) {
            return true;
        }
        if ($job->group === null) {
            return $native->reserveJob($job->id) !== null;
        }
        // The limits of its group would count that as a start.
        $now = $native->peek($job->id);

        return $now !== null && self::isLeft($native, $now);
    }

    /**
     * Keeps other processes from the same work for at most ten seconds, where the cache has locks.
     *
     * @template T
     *
     * @param Closure(): T $work
     *
     * @return T
     */
    private function alone(string $name, Closure $work): mixed
    {
        $store = $this->container->make(Cache::class)->getStore();

        return $store instanceof LockProvider
            ? $store->lock($name, 10)->block(10, $work)
            : $work();
    }

    private function ends(): JobEnds
    {
        return $this->container->make(JobEnds::class);
    }

    private static function cancelled(string $id, string $queue, string $how): CancelledException
    {
        return new CancelledException("job '$id' in queue '$queue' $how");
    }

    /** @return array<array-key, mixed> */
    private static function decoded(string $body): array
    {
        $payload = json_decode($body, true);

        return is_array($payload) ? $payload : [];
    }

    /** @param array<array-key, mixed> $payload */
    private static function uuid(array $payload): ?string
    {
        return is_string($payload['uuid'] ?? null) && $payload['uuid'] !== '' ? $payload['uuid'] : null;
    }
}
