<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Closure;
use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\State as JobState;

/**
 * Stores schedules. One that was changed between a look and the change is looked at again.
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
     * @param Closure(?JobInfo): (array{string, State, DateTimeImmutable}|null) $change gets the job as it is, if there is one. It gives the payload, the
     *     state, and when it is due; null: nothing is to change. It is called again whenever somebody else has changed the job
     *
     * @return bool false: nothing was to change
     *
     * @throws ScheduleHeld
     */
    public function write(string $name, Closure $change): bool
    {
        for ($patient = hrtime(true) + self::PATIENCE; ; self::await($name, $patient)) {
            $seen = $this->queue->peek($name);
            $changed = $change($seen);
            if ($changed === null) {
                return false;
            }
            if ($seen === null ? $this->push($name, ...$changed) !== null : $this->update($seen, ...$changed)) {
                return true;
            }
        }
    }

    private function update(JobInfo $seen, string $body, State $state, DateTimeImmutable $due): bool
    {
        return $seen->state !== JobState::Reserved && $this->queue->update($seen->id, $body, $state->changes(), $due, $seen);
    }

    private function push(string $name, string $body, State $state, DateTimeImmutable $due): ?string
    {
        return $this->queue->tryPush([
            'payload' => $body,
            'delay' => $due,
            'id' => $name,
            'ttr' => self::TTR,
            'maxAttempts' => 0,
            // A run fails, and is not released, only where Redis fails as well.
            'backoff' => Backoff::fixed(1),
            'headers' => $state->headers(),
        ]);
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
