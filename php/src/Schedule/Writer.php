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

    /** Nanoseconds: a runner that lives has given a schedule back by then. */
    private const PATIENCE = 1_000_000_000;

    public function __construct(private readonly QueueInterface $queue)
    {
    }

    /**
     * @param Closure(JobInfo|null): (array{Definition, State, DateTimeImmutable}|null) $change gets the job as it is, if there is one, and gives what to store
     *     and when it is due; null: nothing is to change
     *
     * @return bool false: nothing was to change
     */
    public function write(string $name, Closure $change): bool
    {
        for ($patient = hrtime(true) + self::PATIENCE; ; $this->await($name, $patient)) {
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

    /** A runner that has not given the schedule back after a while was killed, perhaps: the change does not wait for the end of its lease. */
    private function await(string $name, int $patient): void
    {
        if (hrtime(true) > $patient) {
            $this->queue->cancel($name);
        } else {
            usleep(10_000);
        }
    }
}
