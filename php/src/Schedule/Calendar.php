<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use DelayQueue\Internal\Moment;
use DelayQueue\Internal\RedisClock;
use UnexpectedValueException;
use ValueError;

/**
 * Office hours, quiet hours and holidays of a place; its moments are for `delay:`.
 *
 *     $office = Calendar::of('Europe/Berlin')->hours('MON-FRI 09:00-17:30', 'SAT 10:00-14:00')->without('2030-12-25', '2030-12-26');
 *     $queue->push($payload, delay: $office->next());
 *
 * Hours are what clocks show there, also on the days on which clocks change. A calendar is never changed: each method gives another one. It knows no
 * queue: where no moment is given, it takes the clock of this host, moved as tests move the time.
 */
final class Calendar
{
    private const WEEK = 7 * 86400;

    private function __construct(
        private readonly DateTimeZone $zone,
        private readonly OpenHours $open,
        private readonly OpenHours $closed,
        /** @var array<string, true> by dates */
        private readonly array $without = [],
    ) {
    }

    /**
     * A calendar that is always open.
     *
     * @throws ValueError if there is no such zone
     */
    public static function of(string|DateTimeZone $zone): self
    {
        try {
            $zone = is_string($zone) ? Zone::named($zone) : $zone;
        } catch (UnexpectedValueException $error) {
            throw new ValueError(self::class . "::of(): Argument #1 (\$zone) {$error->getMessage()}", 0, $error);
        }

        return new self($zone, OpenHours::parse([], ''), OpenHours::parse([], ''));
    }

    /**
     * Open at these hours, and at those that were named before; with none at all it is open round the clock.
     *
     * @param string ...$hours "MON-FRI 09:00-17:30", "SAT,SUN 10:00-14:00", or of every day "09:00-24:00"; "22:00-06:00" ends on the next day
     *
     * @throws ValueError
     */
    public function hours(string ...$hours): self
    {
        return new self($this->zone, $this->open->with(OpenHours::parse(array_values($hours), __METHOD__)), $this->closed, $this->without);
    }

    /**
     * Closed at these hours, whatever hours() says: quiet hours.
     *
     * @param string ...$hours as of hours()
     *
     * @throws ValueError
     */
    public function except(string ...$hours): self
    {
        return new self($this->zone, $this->open, $this->closed->with(OpenHours::parse(array_values($hours), __METHOD__)), $this->without);
    }

    /**
     * Closed on these days, from midnight to midnight.
     *
     * @param string|DateTimeInterface|iterable<string|DateTimeInterface> ...$days '2030-12-25', or an object for the date that it shows in its own zone
     *
     * @throws ValueError if one is no date
     */
    public function without(string|DateTimeInterface|iterable ...$days): self
    {
        $dates = $this->without;
        foreach (array_values($days) as $index => $given) {
            foreach (is_iterable($given) ? $given : [$given] as $day) {
                $date = $day instanceof DateTimeInterface ? $day->format('Y-m-d') : $day;
                $read = is_string($date) ? DateTimeImmutable::createFromFormat('!Y-m-d', $date) : false;
                if (!$read || $read->format('Y-m-d') !== $date) {
                    throw new ValueError(__METHOD__ . '(): Argument #' . $index + 1 . ' must be dates such as "2030-12-25"');
                }
                $dates[$date] = true;
            }
        }

        return new self($this->zone, $this->open, $this->closed, $dates);
    }

    public function isOpen(?DateTimeInterface $moment = null): bool
    {
        [$date, $day, $hours, $minutes, $seconds] = explode(' ', $this->there($moment)->format('Y-m-d N G i s'));

        return !isset($this->without[$date]) && $this->opensAt((int) $day, 3600 * (int) $hours + 60 * (int) $minutes + (int) $seconds);
    }

    /**
     * The first moment, from this one on, at which it is open: this one, or when it opens next.
     *
     * @throws ValueError if it never opens
     */
    public function next(?DateTimeInterface $moment = null): DateTimeImmutable
    {
        $moment = $this->there($moment);
        if ($this->isOpen($moment)) {
            return $moment;
        }
        $this->opensOnADay(...$this->bounds()) || throw new ValueError(__METHOD__ . '(): the calendar must have hours at which it is open');
        // There are weeks without holidays, so this ends.
        for ($from = $moment->getTimestamp(); true; $from += self::WEEK) {
            foreach ($this->turns($from, $from + self::WEEK) as $second) {
                $turn = $this->there(new DateTimeImmutable("@$second"));
                if ($this->isOpen($turn)) {
                    return $turn;
                }
            }
        }
    }

    /**
     * The first moment after this one at which clocks there show a time, and it is open.
     *
     * Of a time that clocks show twice on a day, because they are set back, it is the first one. A time that they leave out comes as much later as they go
     * forward.
     *
     * @param string $time "09:00"
     *
     * @throws ValueError if it is no time, or if it is never open then
     */
    public function at(string $time, ?DateTimeInterface $after = null): DateTimeImmutable
    {
        $second = self::second($time, __METHOD__);
        $this->opensOnADay($second) || throw new ValueError(__METHOD__ . '(): Argument #1 ($time) must be a time at which the calendar is open');
        $after = $this->there($after);
        for ($day = self::day($after); true; $day = $day->modify('+1 day')) {
            $moment = $this->on($day, $second);
            if ($moment > $after && $this->isOpen($moment)) {
                return $moment;
            }
        }
    }

    /**
     * When it is open from this time of the next day on, as the place counts days: "tomorrow at nine there".
     *
     * @param string $time "09:00"; where clocks change, as of at()
     *
     * @throws ValueError if it is no time, or if the calendar never opens
     */
    public function tomorrow(string $time, ?DateTimeInterface $moment = null): DateTimeImmutable
    {
        $second = self::second($time, __METHOD__);

        return $this->next($this->on(self::day($this->there($moment))->modify('+1 day'), $second));
    }

    private function opensAt(int $day, int $second): bool
    {
        return ($this->open->isEmpty() || $this->open->have($day, $second)) && !$this->closed->have($day, $second);
    }

    private function opensOnADay(int ...$seconds): bool
    {
        foreach (range(1, 7) as $day) {
            foreach ($seconds as $second) {
                if ($this->opensAt($day, $second)) {
                    return true;
                }
            }
        }

        return false;
    }

    /** @return list<int> seconds of a day at which it may open or close */
    private function bounds(): array
    {
        return [0, ...$this->open->bounds(), ...$this->closed->bounds()];
    }

    /**
     * It opens and closes at its hours, at midnight, and where clocks jump over one of these.
     *
     * @return list<int> the seconds behind $from, up to $to, at which it may open, in their order
     */
    private function turns(int $from, int $to): array
    {
        $changes = $this->zone->getTransitions($from - 86400, $to + 86400) ?: [];
        $offsets = array_unique([...array_column($changes, 'offset'), $this->there(new DateTimeImmutable("@$from"))->getOffset()]);
        $seconds = array_column($changes, 'ts');
        for ($day = intdiv($from, 86400) * 86400 - 2 * 86400; $day <= $to + 2 * 86400; $day += 86400) {
            foreach ($this->bounds() as $bound) {
                foreach ($offsets as $offset) {
                    $seconds[] = $day + $bound - $offset;
                }
            }
        }
        $seconds = array_filter(array_unique($seconds), static fn (int $second): bool => $second > $from && $second <= $to);
        sort($seconds);

        return $seconds;
    }

    /** The moment at which clocks show a second of a day; $day is midnight in UTC. */
    private function on(DateTimeImmutable $day, int $second): DateTimeImmutable
    {
        $wall = $day->getTimestamp() + $second;
        $before = $this->there(new DateTimeImmutable('@' . $wall - 86400))->getOffset();
        $behind = $this->there(new DateTimeImmutable('@' . $wall + 86400))->getOffset();
        $moments = array_map(fn (int $offset): DateTimeImmutable => $this->there(new DateTimeImmutable('@' . $wall - $offset)), [$before, $behind]);
        usort($moments, static fn (DateTimeImmutable $a, DateTimeImmutable $b): int => $a <=> $b);
        $shown = array_filter($moments, static fn (DateTimeImmutable $moment): bool => $moment->getTimestamp() + $moment->getOffset() === $wall);

        return $shown === [] ? end($moments) : reset($shown);
    }

    private function there(?DateTimeInterface $moment): DateTimeImmutable
    {
        return ($moment === null ? Moment::of(RedisClock::here()) : DateTimeImmutable::createFromInterface($moment))->setTimezone($this->zone);
    }

    /** Its date as midnight in UTC. */
    private static function day(DateTimeImmutable $moment): DateTimeImmutable
    {
        return new DateTimeImmutable($moment->format('Y-m-d\T00:00:00\Z'));
    }

    private static function second(string $time, string $method): int
    {
        if (!preg_match('/^([01]?\d|2[0-3]):([0-5]\d)$/D', $time, $match)) {
            throw new ValueError("$method(): Argument #1 (\$time) must be a time such as \"09:00\"");
        }

        return 3600 * (int) $match[1] + 60 * (int) $match[2];
    }
}
