<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use stdClass;

/** JSON for people: coloured, and with parts that fold. Numbers are shown as PHP reads them; the stored bytes stand beside it. */
final class JsonView
{
    private const MOST_VALUES = 2_000;
    private const OPEN = 3;
    private const LONGEST_TEXT = 2_000;

    private int $left = self::MOST_VALUES;

    /** Null: it is no JSON, or a single value. */
    public static function of(string $json): ?Html
    {
        $value = json_decode($json, false, 64, JSON_BIGINT_AS_STRING);

        return is_array($value) || $value instanceof stdClass ? Html::div((new self())->value($value, 0), class: 'json') : null;
    }

    private function value(mixed $value, int $depth): Html
    {
        return match (true) {
            is_array($value), $value instanceof stdClass => $this->members($value, $depth),
            is_string($value) => Html::span('"', Html::stored($value, self::LONGEST_TEXT), '"', class: 'string'),
            default => Html::span((string) json_encode($value, JSON_PRESERVE_ZERO_FRACTION), class: 'scalar'),
        };
    }

    /** @param array<array-key, mixed>|stdClass $value */
    private function members(array|stdClass $value, int $depth): Html
    {
        $isList = is_array($value);
        $members = [];
        foreach ((array) $value as $name => $member) {
            if (--$this->left < 0) {
                $members[] = Html::li('…');
                break;
            }
            $members[] = Html::li($isList ? null : [Html::span(Html::stored((string) $name), class: 'name'), ': '], $this->value($member, $depth + 1));
        }
        $count = count((array) $value);

        return $count === 0
            ? Html::span($isList ? '[]' : '{}', class: 'scalar')
            : Html::details(Html::summary($isList ? "[$count]" : "{{$count}}"), Html::ul($members), open: $depth < self::OPEN);
    }
}
