<?php

declare(strict_types=1);

namespace DelayQueue\Schedule;

use InvalidArgumentException;

/**
 * The five fields of a cron expression, checked: the library takes much that it computes wrongly, or never ends with.
 *
 * @internal
 */
final class Fields
{
    private const ALIASES = [
        '@yearly' => '0 0 1 1 *', '@annually' => '0 0 1 1 *', '@monthly' => '0 0 1 * *', '@weekly' => '0 0 * * 0',
        '@daily' => '0 0 * * *', '@midnight' => '0 0 * * *', '@hourly' => '0 * * * *',
    ];

    private const MONTHS = ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'];

    private const WEEKDAYS = ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'];

    /** The least and the greatest value of a field, and names of values from the least one on. */
    private const FIELDS = [
        'minute' => [0, 59, []],
        'hour' => [0, 23, []],
        'day of the month' => [1, 31, []],
        'month' => [1, 12, self::MONTHS],
        'weekday' => [0, 6, self::WEEKDAYS],
    ];

    /** "*", "5" or "1-5", each with or without a step. */
    private const ITEM = '~^(?:(\*)|([a-z0-9]+)(?:-([a-z0-9]+))?)(?:/(\d{1,3}))?$~Di';

    /** Bytes: an expression that names each value has no more. */
    private const LONGEST = 1_000;

    /**
     * @param string $text the expression with numbers in ascending order, which the library computes rightly
     * @param bool $hasOpenHours whether its hours are * or have a step
     */
    private function __construct(public readonly string $text, public readonly bool $hasOpenHours)
    {
    }

    /** @throws InvalidArgumentException with the reason */
    public static function parse(string $expression): self
    {
        if (strlen($expression) > self::LONGEST) {
            throw new InvalidArgumentException('it is too long');
        }
        $expression = trim($expression, " \t\r\n");
        if (str_starts_with($expression, '@')) {
            $known = implode(', ', array_keys(self::ALIASES));
            $expression = self::ALIASES[strtolower($expression)]
                ?? throw new InvalidArgumentException("names are $known");
        }
        $texts = preg_split('/\s+/', $expression, flags: PREG_SPLIT_NO_EMPTY);
        if (count($texts) !== count(self::FIELDS)) {
            throw new InvalidArgumentException('it needs five fields: ' . implode(', ', array_keys(self::FIELDS)));
        }
        $fields = array_combine(array_keys(self::FIELDS), $texts);
        $read = array_map(self::field(...), array_keys($fields), $fields);

        return new self(implode(' ', $read), preg_match('~^\*|/~', $fields['hour']) === 1);
    }

    private static function field(string $field, string $text): string
    {
        $isDay = $field === 'day of the month' || $field === 'weekday';
        if ($text === '*' || ($isDay && $text === '?')) {
            return '*';
        }
        if ($field === 'day of the month' && $text === 'L') {
            return 'L';
        }
        if ($field === 'day of the month' && preg_match('/^0?(\d{1,2})W$/D', $text, $found) === 1) {
            if ($found[1] < 1 || $found[1] > 28) {
                throw new InvalidArgumentException("W needs a day that each month has, 1 to 28: $text");
            }

            return "$found[1]W";
        }
        [$values, $special] = [[], []];
        foreach (explode(',', $text) as $item) {
            if ($field === 'weekday' && preg_match('/^(\d+|[A-Z]{3})(L|#[1-5])$/Di', $item, $found) === 1) {
                $special[] = self::value($field, $found[1]) % 7 . strtoupper($found[2]);
            } else {
                array_push($values, ...self::values($field, $item));
            }
        }
        [$least, $greatest] = self::FIELDS[$field];
        // A full range of days stays one: beside a weekday it is no *.
        if (count(array_unique($values)) > $greatest - $least && (!$isDay || $text === '*/1')) {
            return '*';
        }

        return implode(',', [...self::ranges($values), ...array_unique($special)]);
    }

    /** @return list<int> of "5", "MON", "1-5", "22-2", "1-9/2", or * with a step */
    private static function values(string $field, string $item): array
    {
        [$least, $greatest] = self::FIELDS[$field];
        if (preg_match(self::ITEM, $item, $found, PREG_UNMATCHED_AS_NULL) !== 1) {
            $reason = $item === '' ? "an item is missing in the $field" : "\"$item\" is no $field";
            throw new InvalidArgumentException($reason);
        }
        [, $star, $first, $last, $step] = $found;
        if ($star === null && $last === null) {
            if ($step !== null) {
                throw new InvalidArgumentException("a step needs * or a range: $item");
            }
            $last = $first;
        }
        $from = $star === null ? self::value($field, $first) : $least;
        $to = $star === null ? self::value($field, $last) : $greatest;
        if ($field === 'weekday') {
            [$from, $to] = [$from % 7, $from === 0 && $to === 7 ? 6 : $to % 7];
        }
        $size = $greatest - $least + 1;
        // A range may go over the end: FRI-MON, 22-2.
        $count = ($to < $from ? $to + $size : $to) - $from + 1;
        if ($step !== null && ($step < 1 || $step > $count)) {
            throw new InvalidArgumentException("the step in $item must be 1 to $count");
        }
        $values = [];
        for ($place = 0; $place < $count; $place += (int) ($step ?? 1)) {
            $values[] = $least + ($from - $least + $place) % $size;
        }

        return $values;
    }

    private static function value(string $field, string $text): int
    {
        [$least, $greatest, $names] = self::FIELDS[$field];
        $named = array_search(strtoupper($text), $names, true);
        if ($named !== false) {
            return $least + $named;
        }
        $most = $field === 'weekday' ? 7 : $greatest;
        if (preg_match('/^\d{1,2}$/D', $text) !== 1 || $text < $least || $text > $most) {
            $orName = $names === [] ? '' : " or a name such as $names[1]";
            throw new InvalidArgumentException("\"$text\" is no $field: it must be $least to $most$orName");
        }

        return (int) $text;
    }

    /**
     * @param list<int> $values
     *
     * @return list<string>
     */
    private static function ranges(array $values): array
    {
        sort($values);
        $ranges = [];
        foreach (array_unique($values) as $value) {
            $last = array_key_last($ranges);
            if ($last !== null && $ranges[$last][1] === $value - 1) {
                $ranges[$last][1] = $value;
            } else {
                $ranges[] = [$value, $value];
            }
        }

        return array_map(static fn (array $range): string => implode('-', array_unique($range)), $ranges);
    }
}
