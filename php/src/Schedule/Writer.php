<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Closure;
use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInfo;
use DelayQueue\LeaseLostException;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;
use DelayQueue\State as JobState;

/**
 * Stores schedules, also one that a runner holds at this moment.
 *
 * @internal
 */
final class Writer
{
    /** Seconds: how long a runner may hold a schedule. Then another one takes it. */
    private const TTR = 30;

    /** Nanoseconds: the lease of a runner that was killed is over by then. */
    private const PATIENCE = (self::TTR + 5) * 1_000_000_000;

    public function __construct(private readonly QueueInterface $queue)
    {
    }

    /**
     * @param Closure(JobInfo|null): (array{Definition, State, DateTimeImmutable}|null) $change gets the job as it is, if there is one, and gives what to store
     *     and when it is due; null: nothing is to change
     *
     * @return bool false: nothing was to change
     *
     * @throws ScheduleHeld
     */
    public function write(string $name, Closure $change): bool
    {
        for ($patient = hrtime(true) + self::PATIENCE; ; self::await($name, $patient)) {
            $old = $this->queue->peek($name);
            $changed = $change($old);
            if ($changed === null) {
                return false;
            }
            // A buried one may be no schedule at all: it is stored anew.
            $isDone = $old === null || $old->state === JobState::Buried
                ? $this->push($name, $old === null ? OnDuplicate::Fail : OnDuplicate::Replace, ...$changed)
                : $this->rewrite($old, ...$changed);
            if ($isDone) {
                return true;
            }
        }
    }

    /** Under a lease, so that it undoes nothing that a runner, or another program, has done since the look. */
    private function rewrite(JobInfo $old, Definition $definition, State $state, DateTimeImmutable $due): bool
    {
        $job = $this->queue->reserveJob($old->id);
        $isAsSeen = $job !== null && [$job->dueAt, $job->body, $job->headers] === [$old->dueAt, $old->body, $old->headers];
        try {
            $isAsSeen && $job->update($definition->toArray(), $state->headers());
            $job?->release($isAsSeen ? $due : Moment::of($job->dueAt), countAttempt: false);
        } catch (LeaseLostException) {
            return false;
        }

        return $isAsSeen;
    }

    private function push(string $name, OnDuplicate $onDuplicate, Definition $definition, State $state, DateTimeImmutable $due): bool
    {
        return null !== $this->queue->tryPush(
            $definition->toArray(),
            $due,
            $name,
            ttr: self::TTR,
            maxAttempts: 0,
            // A run fails, and is not released, only where Redis fails as well.
            backoff: Backoff::fixed(1),
            onDuplicate: $onDuplicate,
            headers: $state->headers(),
        );
    }

    /** A schedule that is held is never removed and pushed anew: it would be lost if this process died in between. */
    private static function await(string $name, int $patient): void
    {
        if (hrtime(true) > $patient) {
            throw new ScheduleHeld("runners hold schedule '$name' again and again: nothing has changed, call again");
        }
        usleep(10_000);
    }
}
