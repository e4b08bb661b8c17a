<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

/**
 * The traits in the extras of a job: flags 1 · length of the traits 2 · (kind 1 · length 1 · value)* · …
 *
 * @internal
 */
final class Traits
{
    /** Where the value of a kind begins, if it has this length. */
    public static function at(string $extras, string $kind, int $length): ?int
    {
        $end = $extras === '' ? 0 : 3 + unpack('n', $extras, 1)[1];
        for ($at = 3; $at < $end; $at += 2 + ord($extras[$at + 1])) {
            if ($extras[$at] === $kind && ord($extras[$at + 1]) === $length) {
                return $at + 2;
            }
        }

        return null;
    }

    public static function value(string $extras, string $kind, int $length): ?string
    {
        $at = self::at($extras, $kind, $length);

        return $at === null ? null : substr($extras, $at, $length);
    }
}
