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

    /** Of a pause without an end. */
    private const FOR_EVER = 'forever';

    /**
     * @param float|null $from Unix seconds: Every counts from then
     * @param float|null $planned Unix seconds: the next moment, where the job is due at another time
     * @param string|null $last id of the occurrence that was pushed last, where the overlap asks for it
     * @param float|null $pausedUntil Unix seconds; INF: until resume(); null: it is not paused
     * @param bool $isTried a runner has tried the planned moment, and its job is surely not pushed
     * @param int|null $outlived attempts of its job when a runner went on after a lease had ended: Redis keeps that error, which tells nothing of later moments
     */
    public function __construct(
        public readonly ?float $from = null,
        public readonly ?float $planned = null,
        public readonly ?string $last = null,
        public readonly ?float $pausedUntil = null,
        public readonly bool $isTried = false,
        public readonly ?int $outlived = null,
    ) {
    }

    /** @param array<string> $headers */
    public static function of(array $headers): self
    {
        $number = static fn (string $name): ?float => is_numeric($headers[$name] ?? null) ? (float) $headers[$name] : null;
        $isForEver = ($headers[self::PAUSED] ?? '') === self::FOR_EVER;

        return new self(
            $number(self::FROM),
            $number(self::PLANNED),
            $headers[self::LAST] ?? null,
            $isForEver ? INF : $number(self::PAUSED),
            isset($headers[self::TRIED]),
            isset($headers[self::OUTLIVED]) ? (int) $headers[self::OUTLIVED] : null,
        );
    }

    /** @return array<string, string> */
    public function headers(): array
    {
        $text = static fn (?float $seconds): ?string => $seconds === null ? null : sprintf('%.6F', $seconds);

        return array_filter([
            self::FROM => $text($this->from),
            self::PLANNED => $text($this->planned),
            self::LAST => $this->last,
            self::PAUSED => $this->pausedUntil === INF ? self::FOR_EVER : $text($this->pausedUntil),
            self::TRIED => $this->isTried ? '1' : null,
            self::OUTLIVED => $this->outlived === null ? null : (string) $this->outlived,
        ], static fn (?string $value): bool => $value !== null);
    }

    /** The next moment of a job that is due then. Somebody may have moved the job. */
    public function next(Recurrence $when, float $dueAt): DateTimeImmutable
    {
        $moment = Moment::of($this->planned ?? $dueAt);

        if ($this->planned !== null || $when->isAt($moment)) {
            return $moment;
        }
        $last = $when->last($moment);

        return $last === null || (float) $last->format('U.u') < ($this->from ?? 0.0) ? $when->next($moment) ?? $moment : $last;
    }

    /** Its job is due at another time, because a run has failed. */
    public function isLate(Recurrence $when, float $dueAt): bool
    {
        return $this->planned === null ? !$when->isAt(Moment::of($dueAt)) : $this->planned < $dueAt - 0.001;
    }

    public function since(float $from): self
    {
        return new self($from, null, $this->last, $this->pausedUntil);
    }

    /** The moment is noted only where no one may be lost: elsewhere the time at which the job is due tells. */
    public function goingOn(Definition $definition, DateTimeImmutable $next, ?string $last = null, ?int $outlived = null): self
    {
        $isNoted = $definition->catchUp === CatchUp::All && $this->pausedUntil === null;
        $planned = $isNoted ? (float) $next->format('U.u') : null;

        return new self($this->from, $planned, $last ?? $this->last, $this->pausedUntil, outlived: $outlived);
    }

    public function planned(DateTimeImmutable $moment, bool $isTried): self
    {
        return new self($this->from, (float) $moment->format('U.u'), $this->last, $this->pausedUntil, $isTried);
    }

    public function paused(?float $until): self
    {
        return new self($this->from, null, $this->last, $until);
    }
}
