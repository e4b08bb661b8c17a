<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Concerns;

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

/** Jobs that end without their handler: locks, batches and chains hear of it through JobEnds. */
trait EndsJobs
{
    /**
     * Removes jobs that were found. One that runs at this moment runs to its end, and settles itself; a buried one has failed already.
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
            $this->ends()->removed($payload, self::cancelled($old->id, $job->getQueue(), 'was cancelled'), wasStarted: true);
        }
    }

    /** @param string|null $survivor the payload of the job that has its id now */
    private function settleRemoved(JobInfo $job, string $how, ?string $survivor = null): void
    {
        $why = self::cancelled($job->id, QueueName::decode($job->queue), $how);
        $wasStarted = $job->attempts + $job->releases + $job->timeouts > 0;
        $this->ends()->removed(self::decoded($job->body), $why, self::decoded($survivor ?? ''), $wasStarted);
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

    /** Takes a waiting job out of the reach of workers: one that has begun it since settles it. Limits of a group would count that as a start. */
    private static function isTaken(DelayQueue $native, JobInfo $job): bool
    {
        $now = $job->group === null ? null : $native->peek($job->id);

        return match (true) {
            $job->state === State::Reserved => true,
            $job->group === null => $native->reserveJob($job->id) !== null,
            default => $now !== null && self::isLeft($native, $now),
        };
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
