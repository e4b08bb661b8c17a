<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use ValueError;

/**
 * Hours of the week, as clocks on the wall show them.
 *
 * @internal
 */
final class OpenHours
{
    private const DAYS = ['MON' => 1, 'TUE' => 2, 'WED' => 3, 'THU' => 4, 'FRI' => 5, 'SAT' => 6, 'SUN' => 7];

    private const HOURS = '/^([01]?\d|2[0-3]):([0-5]\d)-(?:([01]?\d|2[0-3]):([0-5]\d)|24:00)$/D';

    /** @param list<array{int, int, int}> $spans day of the week (1 is Monday), first second of the day, the second behind the last one */
    private function __construct(private readonly array $spans)
    {
    }

    /**
     * @param list<string> $lines "MON-FRI 09:00-17:30", "SAT,SUN 10:00-14:00", or "22:00-06:00" of every day, which ends on the next one
     *
     * @throws ValueError that names the method
     */
    public static function parse(array $lines, string $method): self
    {
        $spans = [];
        foreach ($lines as $index => $line) {
            $found = self::spans($line) ?? throw new ValueError("$method(): Argument #" . $index + 1 .
                ' must be days and hours such as "MON-FRI 09:00-17:30", "SAT,SUN 10:00-14:00" or "22:00-06:00"');
            array_push($spans, ...$found);
        }

        return new self($spans);
    }

    public function with(self $others): self
    {
        return new self([...$this->spans, ...$others->spans]);
    }

    public function isEmpty(): bool
    {
        return $this->spans === [];
    }

    public function have(int $day, int $second): bool
    {
        foreach ($this->spans as [$itsDay, $from, $to]) {
            if ($itsDay === $day && $second >= $from && $second < $to) {
                return true;
            }
        }

        return false;
    }

    /** @return list<int> seconds of a day at which one of them may begin or end */
    public function bounds(): array
    {
        return array_values(array_unique(array_merge(...array_map(static fn (array $span): array => [$span[1], $span[2] % 86400], $this->spans))));
    }

    /** @return list<array{int, int, int}>|null */
    private static function spans(string $line): ?array
    {
        $words = explode(' ', $line);
        $days = count($words) === 2 ? self::days(strtoupper(array_shift($words))) : range(1, 7);
        if ($days === null || count($words) !== 1 || !preg_match(self::HOURS, $words[0], $time)) {
            return null;
        }
        $from = 3600 * (int) $time[1] + 60 * (int) $time[2];
        $to = isset($time[3]) ? 3600 * (int) $time[3] + 60 * (int) $time[4] : 86400;
        if ($from === $to) {
            return null;
        }
        $spans = [];
        foreach ($days as $day) {
            array_push($spans, ...($from < $to ? [[$day, $from, $to]] : [[$day, $from, 86400], [$day % 7 + 1, 0, $to]]));
        }

        return $spans;
    }

    /** @return list<int>|null "MON", "MON-FRI", "SAT-MON", "TUE,THU-SAT" */
    private static function days(string $text): ?array
    {
        $days = [];
        foreach (explode(',', $text) as $part) {
            $ends = array_map(static fn (string $day): ?int => self::DAYS[$day] ?? null, explode('-', $part));
            if (in_array(null, $ends, true) || count($ends) > 2) {
                return null;
            }
            [$first, $last] = [$ends[0], end($ends)];
            for ($day = $first; $day !== $last; $day = $day % 7 + 1) {
                $days[] = $day;
            }
            $days[] = $last;
        }

        return $days;
    }
}
