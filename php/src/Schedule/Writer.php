<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Closure;
use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\JobInfo;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;

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
            if ($this->push($name, $old === null ? OnDuplicate::Fail : OnDuplicate::Replace, ...$changed) !== null) {
                return true;
            }
        }
    }

    private function push(string $name, OnDuplicate $onDuplicate, Definition $definition, State $state, DateTimeImmutable $due): ?string
    {
        return $this->queue->tryPush(
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
