<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Closure;
use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInfo;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\State as JobState;

/**
 * Stores schedules. One that is there is held meanwhile, so that no other process changes it between a look and a
 * change.
 *
 * @internal
 */
final class Writer
{
    /** Seconds: how long a runner may hold a schedule. Then another one takes it. */
    private const TTR = 30;

    /** Nanoseconds: the lease of a runner that was killed is over by then. */
    private const PATIENCE = (self::TTR + 5) * 1_000_000_000;

    /** Of payloads as they are stored: each number of a definition stays as it was written. */
    private readonly QueueInterface $queue;

    public function __construct(QueueInterface $queue)
    {
        $this->queue = $queue->sibling($queue->name(), ['format' => 'raw']);
    }

    /**
     * @param Closure(JobInfo|JobInterface|null, bool): (array{string, State, DateTimeImmutable}|null) $change gets the
     *     job as it is, if there is one, and whether it is buried. It gives the payload, the state, and when it is due;
     *     null: nothing is to change. It is called again whenever somebody else may have changed the job
     *
     * @return bool false: nothing was to change
     *
     * @throws ScheduleHeld
     */
    public function write(string $name, Closure $change): bool
    {
        for ($patient = hrtime(true) + self::PATIENCE; ; self::await($name, $patient)) {
            // The look comes first, because reserveJob() buries a job that it cannot open.
            $seen = $this->queue->peek($name);
            $isBuried = $seen?->state === JobState::Buried;
            $changed = $change($seen, $isBuried);
            if ($changed === null) {
                return false;
            }
            if ($seen === null) {
                if ($this->push($name, ...$changed) !== null) {
                    return true;
                }
                continue;
            }
            $job = $this->queue->reserveJob($name);
            try {
                if ($job !== null) {
                    return self::update($job, fn (): ?array => $change($job, $isBuried));
                }
            } catch (LeaseLostException) {
                // It was cancelled, or this process stood still.
            }
        }
    }

    /** @param Closure(): (array{string, State, DateTimeImmutable}|null) $change */
    private static function update(JobInterface $job, Closure $change): bool
    {
        $due = Moment::of($job->dueAt);
        $isUpdated = false;
        try {
            $changed = $change();
            if ($changed !== null) {
                [$body, $state, $then] = $changed;
                $job->update($body, $state->headers());
                [$isUpdated, $due] = [true, $then];
            }
        } finally {
            try {
                $job->release($due, countAttempt: false);
            } catch (LeaseLostException) {
                // A runner has it, with what was stored.
            }
        }

        return $isUpdated;
    }

    private function push(string $name, string $body, State $state, DateTimeImmutable $due): ?string
    {
        return $this->queue->tryPush(
            $body,
            $due,
            $name,
            ttr: self::TTR,
            maxAttempts: 0,
            // A run fails, and is not released, only where Redis fails as well.
            backoff: Backoff::fixed(1),
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
