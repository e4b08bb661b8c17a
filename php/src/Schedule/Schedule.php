<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateTimeImmutable;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInfo;
use DelayQueue\State as JobState;

/** A look at a schedule: see Schedules::get(). */
final class Schedule
{
    /** Seconds that a runner may be behind. */
    private const PATIENCE = 60;

    /** @param array<string, mixed> $options of its jobs, as push() takes them */
    private function __construct(
        public readonly string $name,
        public readonly Cron|Every $when,
        public readonly string $queue,
        /** Objects in it are stdClass. */
        public readonly mixed $payload,
        public readonly Overlap $overlap,
        /** Seconds, or all of them. */
        public readonly float|CatchUp $catchUp,
        /** Seconds. */
        public readonly float $jitter,
        public readonly ?DateTimeImmutable $until,
        public readonly array $options,
        public readonly bool $paused,
        /** Null: it is not paused, or until resume(). */
        public readonly ?DateTimeImmutable $pausedUntil,
        /** Null: it is buried, or paused until resume(). */
        public readonly ?DateTimeImmutable $nextAt,
        /** Why its job could not be pushed, and will be tried again; or why it is buried. */
        public readonly ?string $lastError,
        /** A runner could not read it. set() and resume() bring it back. */
        public readonly bool $buried,
        /** @internal */
        public readonly Definition $definition,
        /** @var list<DateTimeImmutable> after $nextAt, before the clock goes on */
        private readonly array $followers,
    ) {
    }

    /** @internal */
    public static function of(JobInfo $job): self
    {
        $definition = Definition::read($job->body);
        $state = State::of($job->headers);
        $when = $definition->startingAt($state->from);
        $isBuried = $job->state === JobState::Buried;
        $end = $state->pausedUntil === null || $state->pausedUntil === INF ? null : Moment::of($state->pausedUntil);
        $next = match (true) {
            $isBuried => null,
            $state->pausedUntil === null => $state->next($when, $job->dueAt),
            $end === null => null,
            default => $when->next($end),
        };
        $owed = $isBuried || $state->pausedUntil !== null ? [] : $state->owedMoments();

        return new self(
            $job->id,
            $when,
            $definition->queue,
            $definition->payload,
            $definition->overlap,
            $definition->catchUp,
            $definition->jitter,
            $definition->until,
            $definition->options,
            $state->pausedUntil !== null,
            $end,
            $owed[0] ?? $next,
            $isBuried || ($state->pausedUntil === null && $state->isLate($when, $job->dueAt)) ? $job->lastError : null,
            $isBuried,
            $definition,
            $owed === [] ? [] : [...array_slice($owed, 1), $next],
        );
    }

    /**
     * Whether a runner should have run its next moment more than a minute ago.
     *
     * @internal
     */
    public function isLate(float $now): bool
    {
        return !$this->paused && $this->nextAt !== null && $now - (float) $this->nextAt->format('U.u') > self::PATIENCE;
    }

    /**
     * Whether its end is over, and a moment before it is still to run.
     *
     * @internal
     */
    public function isEnding(float $now): bool
    {
        $isOver = $this->until !== null && (float) $this->until->format('U.u') <= $now;

        return $isOver && $this->nextAt !== null && $this->nextAt <= $this->until;
    }

    /**
     * Its next moments, unless somebody pauses or changes it; a jitter comes on top.
     *
     * @return list<DateTimeImmutable> fewer where it ends before; of a line of cron in its time zone
     */
    public function next(int $count = 1): array
    {
        [$moments, $followers] = [[], $this->followers];
        $after = function (DateTimeImmutable $moment) use (&$followers): ?DateTimeImmutable {
            return array_shift($followers) ?? $this->when->next($moment);
        };
        for ($moment = $this->nextAt; $moment !== null && count($moments) < $count; $moment = $after($moment)) {
            if ($this->until !== null && $moment > $this->until) {
                break;
            }
            $moments[] = $this->when instanceof Cron ? $this->when->local($moment) : $moment;
        }

        return $moments;
    }
}
