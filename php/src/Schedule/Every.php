<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateInterval;
use DateTimeImmutable;
use DateTimeInterface;
use DelayQueue\Internal\Moment;
use ValueError;

/** Moments at equal distances, which count from Schedules::set(). */
final class Every implements Recurrence
{
    private const LEAST_MS = 1000;

    /** @param int|null $fromMs Unix time; null: they count from the moment that next() is asked for */
    private function __construct(private readonly int $ms, private readonly ?int $fromMs = null)
    {
    }

    /**
     * @param int|float|string|DateInterval $interval as all durations; at least 1 s
     *
     * @throws ValueError
     */
    public static function interval(int|float|string|DateInterval $interval): self
    {
        $ms = (int) round(Arguments::duration($interval, __METHOD__, 'interval') * 1000);

        return $ms >= self::LEAST_MS ? new self($ms) : throw Arguments::wrong(__METHOD__, 'interval', 'must be at least 1 second');
    }

    public function next(DateTimeInterface $after): DateTimeImmutable
    {
        $ms = self::ms($after);

        return self::moment($this->fromMs === null ? $ms + $this->ms : $this->fromMs + max(1, 1 + $this->steps($ms)) * $this->ms);
    }

    /** @internal */
    public function last(DateTimeInterface $upTo): ?DateTimeImmutable
    {
        $steps = $this->fromMs === null ? 0 : $this->steps(self::ms($upTo));

        return $steps < 1 ? null : self::moment($this->fromMs + $steps * $this->ms);
    }

    /** @internal */
    public function isAt(DateTimeInterface $moment): bool
    {
        return $this->last($moment) == $moment;
    }

    /**
     * This interval, from a moment on.
     *
     * @internal
     */
    public function from(float $seconds): self
    {
        return new self($this->ms, (int) floor($seconds * 1000));
    }

    /** @internal */
    public function seconds(): float
    {
        return $this->ms / 1000;
    }

    /** @internal */
    public function toArray(): array
    {
        return ['every' => $this->seconds()];
    }

    public function __toString(): string
    {
        return 'every ' . rtrim(rtrim(sprintf('%.3F', $this->seconds()), '0'), '.') . ' s';
    }

    private function steps(int $ms): int
    {
        return (int) floor(($ms - (int) $this->fromMs) / $this->ms);
    }

    private static function ms(DateTimeInterface $moment): int
    {
        return $moment->getTimestamp() * 1000 + intdiv((int) $moment->format('u'), 1000);
    }

    private static function moment(int $ms): DateTimeImmutable
    {
        return Moment::of($ms / 1000);
    }
}
