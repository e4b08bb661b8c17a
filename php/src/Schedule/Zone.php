<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use DateTimeImmutable;
use DateTimeInterface;
use DateTimeZone;
use DelayQueue\Internal\Excerpt;
use Throwable;
use UnexpectedValueException;

/**
 * A time zone and its wall clock. Wall clocks are DateTimeImmutable objects in UTC that show what a clock on the wall shows.
 *
 * @internal
 */
final class Zone
{
    /** Zones that PHP takes for abbreviations without summer time, and the places whose time they have in tzdata. */
    private const PLACES = [
        'CET' => 'Europe/Brussels', 'MET' => 'Europe/Brussels', 'EET' => 'Europe/Athens', 'WET' => 'Europe/Lisbon',
        'EST' => 'America/Panama', 'MST' => 'America/Phoenix', 'HST' => 'Pacific/Honolulu',
    ];

    /** Seconds: no clock was ever changed by more. */
    private const LARGEST_CHANGE = 2 * 86400;

    /** Seconds for which changes are looked up at once. */
    private const AHEAD = 400 * 86400;

    /** @var array{int, int, list<array{ts: int, offset: int}>} changes between two moments, the first entry is the offset at the first moment */
    private array $known = [0, 0, []];

    public function __construct(public readonly DateTimeZone $zone)
    {
    }

    /** @throws UnexpectedValueException that says what it must be */
    public static function named(string $name): DateTimeZone
    {
        try {
            $zone = new DateTimeZone(self::PLACES[strtoupper($name)] ?? $name);
        } catch (Throwable) {
            $zone = null;
        }
        // PHP takes an abbreviation such as BST for an offset, whatever the season. GMT+2 is east of Greenwich for some
        // programs, and west for others.
        $offset = '/^(?:UTC|GMT|Z|[+-](?:0?\d|1[0-3])(?::?[0-5]\d)?|[+-]14(?::?00)?)$/Di';
        if ($zone === null || ($zone->getLocation() === false && preg_match($offset, $name) !== 1)) {
            $must = 'must be a time zone such as "Europe/Berlin", or an offset of at most 14 hours such as "+01:00"';
            throw new UnexpectedValueException($must . ', "' . Excerpt::of($name, 60) . '" given');
        }

        return $zone;
    }

    public function wall(DateTimeInterface $moment): DateTimeImmutable
    {
        return self::utc($moment->getTimestamp() + $this->offset($moment->getTimestamp()));
    }

    /** The moment at which the clock shows this as it goes at another moment, whether that is still so or not. */
    public function at(DateTimeImmutable $wall, DateTimeInterface $as): DateTimeImmutable
    {
        return $this->moment($wall->getTimestamp() - $this->offset($as->getTimestamp()));
    }

    /** A moment before each one at which the clock shows this. */
    public function before(DateTimeImmutable $wall): DateTimeImmutable
    {
        return $this->moment($wall->getTimestamp() - self::LARGEST_CHANGE);
    }

    /** The clock goes on evenly until then, at least: the next change, or a moment far ahead. */
    public function evenUntil(DateTimeInterface $moment): DateTimeImmutable
    {
        $horizon = $moment->getTimestamp() + self::AHEAD;
        foreach ($this->changes($moment->getTimestamp(), $horizon) as $change) {
            if ($change['ts'] > $moment->getTimestamp()) {
                return $this->moment($change['ts']);
            }
        }

        return $this->moment($horizon);
    }

    /** The first moment at which the clock shows this. It is the end of the gap if it never does; null: that day does not exist. */
    public function first(DateTimeImmutable $wall): ?DateTimeImmutable
    {
        $shown = $wall->getTimestamp();
        $changes = $this->changes($shown - self::LARGEST_CHANGE, $shown + self::LARGEST_CHANGE);
        foreach ($changes as $number => ['ts' => $from, 'offset' => $offset]) {
            $until = $changes[$number + 1]['ts'] ?? PHP_INT_MAX;
            $moment = $shown - $offset;
            if ($moment < $until) {
                return $number === 0 || $moment >= $from ? $this->moment($moment) : $this->endOfGap($wall, $from, $changes[$number - 1]['offset'], $offset);
            }
        }

        return null;
    }

    private function endOfGap(DateTimeImmutable $wall, int $change, int $before, int $after): ?DateTimeImmutable
    {
        $day = intdiv($wall->getTimestamp(), 86400) * 86400;
        $isWholeDay = $change + $before <= $day && $change + $after >= $day + 86400;

        return $isWholeDay ? null : $this->moment($change);
    }

    private function offset(int $seconds): int
    {
        $offset = 0;
        foreach ($this->changes($seconds, $seconds) as $change) {
            $change['ts'] <= $seconds && $offset = $change['offset'];
        }

        return $offset;
    }

    /** @return list<array{ts: int, offset: int}> those from the first moment to the second one at least; the offset at the beginning comes first */
    private function changes(int $from, int $to): array
    {
        if ($from < $this->known[0] || $to > $this->known[1] || $this->known[2] === []) {
            [$begin, $end] = [$from - self::LARGEST_CHANGE, $to + self::AHEAD];
            $changes = $this->zone->getTransitions($begin, $end);
            // A zone that is an offset or an abbreviation has none.
            $changes = $changes ?: [['ts' => $begin, 'offset' => $this->zone->getOffset(new DateTimeImmutable("@$begin"))]];
            $this->known = [$begin, $end, $changes];
        }

        return $this->known[2];
    }

    private function moment(int $seconds): DateTimeImmutable
    {
        return self::utc($seconds)->setTimezone($this->zone);
    }

    private static function utc(int $seconds): DateTimeImmutable
    {
        return (new DateTimeImmutable("@$seconds"))->setTimezone(new DateTimeZone('UTC'));
    }
}
