<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateTimeImmutable;
use DelayQueue\Internal\Moment;

/**
 * Where a schedule is, beside its definition: the headers of its job.
 *
 * @internal
 */
final class State
{
    private const FROM = 'dq-from';
    private const PLANNED = 'dq-planned';
    private const LAST = 'dq-last';
    private const PAUSED = 'dq-paused';
    private const TRIED = 'dq-tried';
    private const OUTLIVED = 'dq-outlived';
    private const OWED = 'dq-owed';

    /** Of a pause without an end. */
    private const FOR_EVER = 'forever';

    /** Seconds: a schedule without an end of its pause is looked at again. */
    private const LONG = 10 * 365 * 86400;

    /**
     * @param float|null $from Unix seconds: Every counts from then
     * @param float|null $planned Unix seconds: the next moment, where the job is due at another time
     * @param string|null $last id of the occurrence that was pushed last, where the overlap asks for it
     * @param float|null $pausedUntil Unix seconds; INF: until resume(); null: it is not paused
     * @param bool|null $isTried a runner has tried the first moment, and its job is surely not pushed; false: it may be
     * @param int $outlived leases of its job that had expired when a runner went on: they tell nothing of later moments
     * @param list<float> $owed Unix seconds: moments before a change or a pause that nobody has run; the oldest first
     */
    public function __construct(
        public readonly ?float $from = null,
        public readonly ?float $planned = null,
        public readonly ?string $last = null,
        public readonly ?float $pausedUntil = null,
        public readonly ?bool $isTried = null,
        public readonly int $outlived = 0,
        public readonly array $owed = [],
    ) {
    }

    /** @param array<string> $headers */
    public static function of(array $headers): self
    {
        $number = static fn (string $name): ?float => is_numeric($headers[$name] ?? null) ? (float) $headers[$name] : null;
        $owed = array_filter(explode(' ', $headers[self::OWED] ?? ''), is_numeric(...));
        $isForEver = ($headers[self::PAUSED] ?? '') === self::FOR_EVER;

        return new self(
            $number(self::FROM),
            $number(self::PLANNED),
            $headers[self::LAST] ?? null,
            $isForEver ? INF : $number(self::PAUSED),
            isset($headers[self::TRIED]) ? $headers[self::TRIED] === '1' : null,
            (int) ($headers[self::OUTLIVED] ?? 0),
            array_map(floatval(...), array_values($owed)),
        );
    }

    /** @return array<string, string> */
    public function headers(): array
    {
        return array_filter($this->changes(), is_string(...));
    }

    /** @return array<string, string|null> for update(): null where there is none */
    public function changes(): array
    {
        $text = static fn (?float $seconds): ?string => $seconds === null ? null : sprintf('%.6F', $seconds);

        return [
            self::FROM => $text($this->from),
            self::PLANNED => $text($this->planned),
            self::LAST => $this->last,
            self::PAUSED => $this->pausedUntil === INF ? self::FOR_EVER : $text($this->pausedUntil),
            self::TRIED => $this->isTried === null ? null : (string) (int) $this->isTried,
            self::OUTLIVED => $this->outlived === 0 ? null : (string) $this->outlived,
            self::OWED => $this->owed === [] ? null : implode(' ', array_map($text, $this->owed)),
        ];
    }

    /** The first moment that is still to run, where it is noted. */
    public function first(): ?float
    {
        return $this->owed[0] ?? $this->planned;
    }

    /** @return list<DateTimeImmutable> */
    public function owedMoments(): array
    {
        return array_map(Moment::of(...), $this->owed);
    }

    public function isPaused(DateTimeImmutable $now): bool
    {
        return $this->pausedUntil !== null && $this->pausedUntil > self::seconds($now);
    }

    /** The next moment of its clock, of a job that is due then; null: it is paused. */
    public function upcoming(Recurrence $when, float $dueAt, DateTimeImmutable $now): ?DateTimeImmutable
    {
        return match (true) {
            $this->isPaused($now) => null,
            $this->pausedUntil !== null => $when->next(Moment::of($this->pausedUntil)),
            default => $this->next($when, $dueAt),
        };
    }

    /** As next(), of one that is not paused. Somebody may have moved the job. */
    public function next(Recurrence $when, float $dueAt): DateTimeImmutable
    {
        $moment = Moment::of($this->planned ?? $dueAt);

        if ($this->planned !== null || $when->isAt($moment)) {
            return $moment;
        }
        $last = $when->last($moment);

        return $last === null || self::seconds($last) < ($this->from ?? 0.0) ? $when->next($moment) ?? $moment : $last;
    }

    /** Its job is due at another time, because a run has failed. */
    public function isLate(Recurrence $when, float $dueAt): bool
    {
        return $this->first() === null ? !$when->isAt(Moment::of($dueAt)) : $this->first() < $dueAt - 0.001;
    }

    public function since(float $from): self
    {
        return new self($from, null, $this->last, $this->pausedUntil, $this->isTried, $this->outlived, $this->owed);
    }

    /** When the job of a paused schedule is due. */
    public function endOfPause(float $now): DateTimeImmutable
    {
        return Moment::of($this->pausedUntil === INF ? $now + self::LONG : (float) $this->pausedUntil);
    }

    /**
     * Before a change: what its clock has had until now is owed, and a pause that is over is forgotten.
     *
     * @param Definition $definition the former one
     * @param bool $runsEach false: only the latest moment is owed
     */
    public function owing(Definition $definition, float $dueAt, float $seconds, bool $runsEach): self
    {
        $now = Moment::of($seconds);
        $when = $definition->startingAt($this->from);
        $next = $this->upcoming($when, $dueAt, $now);
        $end = $definition->until === null ? $now : min($now, $definition->until);
        $due = $next === null ? [] : array_map(self::seconds(...), Missed::due($when, $next, $end, $runsEach));
        $owed = array_slice([...$this->owed, ...$due], $runsEach ? 0 : -1, Missed::MOST);
        $first = $this->first() ?? ($next === null ? null : self::seconds($next));
        $isTried = ($owed[0] ?? $first) === $first ? $this->isTried : null;
        $pausedUntil = $this->isPaused($now) ? $this->pausedUntil : null;

        return new self($this->from, null, $this->last, $pausedUntil, $isTried, $this->outlived, $owed);
    }

    /** @return array{self, DateTimeImmutable} with its next moment, and when its job is due: at once if any is owed */
    public function goingOnAfterChange(Definition $definition, float $now): array
    {
        if ($this->pausedUntil !== null) {
            return [$this, $this->endOfPause($now)];
        }
        $next = $definition->startingAt($this->from)->next(Moment::of($now)) ?? Moment::of($now);
        $planned = self::seconds($next);
        $state = new self($this->from, $planned, $this->last, null, $this->isTried, $this->outlived, $this->owed);

        return [$state, $this->owedMoments()[0] ?? $next];
    }

    /** The moment is noted only where no one may be lost: elsewhere the time at which the job is due tells. */
    public function goingOn(Definition $definition, DateTimeImmutable $next, ?string $last = null, int $outlived = 0): self
    {
        $isNoted = $definition->catchUp === CatchUp::All && $this->pausedUntil === null;
        $planned = $isNoted ? self::seconds($next) : null;

        return new self($this->from, $planned, $last ?? $this->last, $this->pausedUntil, outlived: $outlived);
    }

    /** @param list<DateTimeImmutable> $left moments that could not be pushed; those before $planned are owed */
    public function leaving(array $left, DateTimeImmutable $planned, bool $isTried, int $outlived): self
    {
        $owed = array_filter($left, static fn (DateTimeImmutable $moment): bool => $moment < $planned);
        $next = array_slice($left, count($owed))[0] ?? $planned;
        $owed = array_map(self::seconds(...), $owed);

        return new self($this->from, self::seconds($next), $this->last, $this->pausedUntil, $isTried, $outlived, $owed);
    }

    public function paused(?float $until): self
    {
        return new self($this->from, null, $this->last, $until, $this->isTried, $this->outlived, $this->owed);
    }

    private static function seconds(DateTimeImmutable $moment): float
    {
        return (float) $moment->format('U.u');
    }
}
