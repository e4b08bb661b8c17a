<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use Closure;
use DateTimeImmutable;
use DelayQueue\Bury;
use DelayQueue\ConnectionException;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\Sealed;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\SealException;
use DelayQueue\ServerException;
use DelayQueue\State as JobState;
use Error;
use Throwable;
use UnexpectedValueException;

/**
 * The handler of a queue of schedules, for consume(): pushes the job of each schedule that is due, and puts the schedule back to its next moment.
 *
 *     $queue = new DelayQueue('schedules');
 *     $queue->consume(new Runner($queue), prefetch: Runner::PREFETCH);
 *
 * As many as you like may run: the id of a job is its schedule and its moment, so that a repeat after a crash pushes nothing. Where a job cannot be
 * pushed, its schedule waits for as long as it is late, from a second to 45 seconds, and tries again.
 */
final class Runner
{
    /** How many schedules to fetch at once. */
    public const PREFETCH = 64;

    /** Seconds between two tries of a schedule. */
    private const SHORTEST = 1.0;
    /** Less than a minute: a moment that comes meanwhile is not missed. */
    private const LONGEST = 45.0;

    private const KEPT_OPEN = 1_000;

    /** @var Closure(string): QueueInterface */
    private readonly Closure $open;

    /** @var array<string, QueueInterface> */
    private array $queues = [];

    /**
     * @param QueueInterface $queue the queue of schedules
     * @param (Closure(non-empty-string): QueueInterface)|null $open opens the queues of the jobs; null: as siblings of the queue
     * @param (Closure(string, Throwable): void)|null $failed hears of each job that could not be pushed, and why
     * @param (Closure(string): void)|null $leftOut hears of moments that are more than a minute old and are not caught up
     *
     * @throws SealException when the schedules are sealed, and this object of their queue has no keys
     */
    public function __construct(
        QueueInterface $queue,
        ?Closure $open = null,
        private readonly ?Closure $failed = null,
        private readonly ?Closure $leftOut = null,
    ) {
        $this->open = $open ?? $queue->sibling(...);
        try {
            // Each schedule that falls due would be buried.
            Sealed::refuseWithoutKeys($queue);
        } catch (ConnectionException | ServerException) {
            // consume() waits for Redis, or says what is wrong.
        }
    }

    /** @throws Bury when the job is no schedule */
    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        $state = State::of($job->headers);
        $now = Moment::of($job->reservedAt);
        try {
            $definition = Definition::read($job->body);
        } catch (UnexpectedValueException $error) {
            throw new Bury("the job is no schedule: {$error->getMessage()}");
        } catch (Error $error) {
            $planned = Moment::of($state->planned ?? $job->dueAt);

            return $this->later($job, $state, $state->owedMoments(), $planned, $now, $error);
        }
        $when = $definition->startingAt($state->from);
        if ($state->isPaused($now)) {
            return $this->sleep($job, $state, $definition, $now);
        }
        $planned = $state->upcoming($when, $job->dueAt, $now);
        if ($planned === null) {
            return true;
        }
        $state = $state->pausedUntil === null ? $state : $state->paused(null);
        if ($job->timeLeft() <= 0.0) {
            throw new LeaseLostException("the lease of schedule '$job->id' is over: another runner may have pushed its job");
        }
        $missed = Missed::of($definition, $state, $when, $planned, $now);
        $left = $missed->moments;
        try {
            $last = $this->push($job, $definition, $state->last, $left);
        } catch (LeaseLostException $lost) {
            throw $lost;
        } catch (Throwable $error) {
            return $this->later($job, $state, $left, $planned, $now, $error);
        }
        $leftOut = $this->leftOut === null ? null : $missed->leftOut($now);
        $leftOut === null || ($this->leftOut)("schedule $job->id leaves out the moments $leftOut");
        $next = $planned > $now ? $planned : $when->next($now);
        if ($next === null || ($definition->until !== null && $next > $definition->until)) {
            return true;
        }

        return $this->release($job, $state->goingOn($definition, $next, $last, $job->timeouts), $next);
    }

    /**
     * @param list<DateTimeImmutable> $moments less those that are done, when it throws
     *
     * @return string|null the id of the last job, where the overlap asks for it
     */
    private function push(JobInterface $job, Definition $definition, ?string $last, array &$moments): ?string
    {
        if ($moments === []) {
            return $last;
        }
        $target = $definition->target($this->target($definition->queue));
        if ($definition->overlap === Overlap::Allow) {
            // One by one: a thousand large payloads at once would need the memory of a thousand.
            for (; $moments !== []; array_shift($moments)) {
                $target->pushMany([$definition->job(Occurrence::id($job->id, $moments[0]), $moments[0])]);
            }

            return null;
        }
        $id = Occurrence::id($job->id, $moments[0]);
        // After a crash it may be this one.
        if ($last !== null && $last !== $id) {
            $former = $target->peek($last)?->state;
            if ($former !== null && $former !== JobState::Buried) {
                if ($definition->overlap === Overlap::Skip) {
                    return $last;
                }
                $target->cancel($last);
            }
        }
        $target->pushMany([$definition->job($id, $moments[0])]);

        return $id;
    }

    private function target(string $name): QueueInterface
    {
        if (count($this->queues) > self::KEPT_OPEN) {
            $this->queues = [];
        }

        return $this->queues[$name] ??= ($this->open)($name);
    }

    /** @param list<DateTimeImmutable> $left moments that it should have pushed */
    private function later(
        JobInterface $job,
        State $state,
        array $left,
        DateTimeImmutable $planned,
        DateTimeImmutable $now,
        Throwable $error,
    ): mixed {
        $this->failed === null || ($this->failed)("schedule $job->id cannot push its job, and tries again", $error);
        $first = $left[0] ?? $planned;
        $late = (float) $now->format('U.u') - (float) $first->format('U.u');
        $again = Moment::of($job->reservedAt + max(self::SHORTEST, min(self::LONGEST, $late)));

        try {
            $isTried = self::isUnpushed($job, $state, $first, $error);
            $this->note($job, $state->leaving($left, $planned, $isTried, $job->timeouts));
        } catch (ServerException) {
            // A full Redis takes no note. Of moments that may be lost the latest one is found by the time at which the job is due.
        }
        $job->release($again, countAttempt: false, error: $error);

        return true;
    }

    /** Whether a job of this moment is surely not there. Once it may be, its id is taken for as long as it could be caught up, and no longer. */
    private static function isUnpushed(JobInterface $job, State $state, DateTimeImmutable $moment, Throwable $error): bool
    {
        $isNew = $state->isTried === null || $state->first() === null || Moment::of($state->first()) != $moment;
        $mayBePushed = $job->timeouts !== $state->outlived || ($error instanceof ConnectionException && $error->ambiguous);

        return !$mayBePushed && ($isNew || $state->isTried === true);
    }

    private function sleep(JobInterface $job, State $state, Definition $definition, DateTimeImmutable $now): mixed
    {
        $due = $state->endOfPause((float) $now->format('U.u'));

        return $definition->until !== null && $due > $definition->until ? true : $this->release($job, $state, $due);
    }

    /** The note is stored before the job goes: a crash in between repeats what was done. */
    private function release(JobInterface $job, State $state, DateTimeImmutable $due): mixed
    {
        $this->note($job, $state);
        $job->release($due, countAttempt: false);

        return true;
    }

    private function note(JobInterface $job, State $state): void
    {
        if ($state->headers() !== State::of($job->headers)->headers()) {
            $job->update(headers: $state->changes());
        }
    }
}
