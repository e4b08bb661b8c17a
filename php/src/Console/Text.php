<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DateTimeImmutable;
use DateTimeZone;

/** How times and lengths of time are written. */
final class Text
{
    /** Unix seconds as a moment in UTC, to the millisecond. */
    public static function moment(float $seconds): string
    {
        return self::toMoment($seconds)->format('Y-m-d\TH:i:s.v\Z');
    }

    /** The moment itself, exact to the millisecond. */
    public static function toMoment(float $seconds): DateTimeImmutable
    {
        $moment = DateTimeImmutable::createFromFormat('U.v', sprintf('%.3F', $seconds), new DateTimeZone('UTC'));

        return $moment ?: throw new UsageException("$seconds is not a moment in Unix seconds");
    }

    /** Unix seconds as a moment, and how far away that is. */
    public static function momentAndDistance(float $seconds): string
    {
        $distance = $seconds - microtime(true);

        return self::moment($seconds) . ($distance >= 0 ? ' (in ' . self::length($distance) . ')' : ' (' . self::length(-$distance) . ' ago)');
    }

    /** Seconds with one or two units: 12 ms, 4.2 s, 15m, 2h30m, 3d4h. */
    public static function length(float $seconds): string
    {
        if ($seconds < 1) {
            return sprintf('%d ms', round($seconds * 1000));
        }
        if ($seconds < 60) {
            return rtrim(rtrim(sprintf('%.1F', $seconds), '0'), '.') . ' s';
        }
        $parts = [];
        $left = (int) round($seconds);
        foreach (['d' => 86400, 'h' => 3600, 'm' => 60, 's' => 1] as $unit => $length) {
            if ($left >= $length || $parts !== []) {
                $parts[] = intdiv($left, $length) . $unit;
                $left %= $length;
            }
            if (count($parts) === 2) {
                break;
            }
        }

        return implode('', array_filter($parts, static fn (string $part): bool => $part[0] !== '0'));
    }

    /** On one line, and not longer than so many characters. */
    public static function short(string $text, int $length): string
    {
        $line = (string) preg_replace('/[\x00-\x1F\x7F]+/', ' ', $text);
        // Not in the middle of a character, if it is text.
        $cut = preg_match("/^.{0,$length}/u", $line, $match) === 1 ? $match[0] : substr($line, 0, $length);

        return $cut === $line ? $line : "{$cut}…";
    }

    /** One line of JSON; bytes that are not UTF-8 are replaced. */
    public static function json(mixed $value): string
    {
        $readable = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;

        return json_encode($value, $readable | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR);
    }
}
