<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

/**
 * Finds the names that somebody may have meant.
 *
 * @internal
 */
final class Nearest
{
    /** One letter in so many may be wrong. */
    private const WRONG = 3;

    /**
     * @param iterable<string> $names
     *
     * @return list<string> those that are near, the nearest first, at most three
     */
    public static function of(string $word, iterable $names): array
    {
        $distances = [];
        foreach ($names as $name) {
            $distance = levenshtein($word, $name);
            if ($distance <= max(1, intdiv(strlen($word), self::WRONG)) || ($word !== '' && str_starts_with($name, $word))) {
                $distances[$name] = $distance;
            }
        }
        asort($distances);

        return array_map(strval(...), array_slice(array_keys($distances), 0, 3));
    }
}
