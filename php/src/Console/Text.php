<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Internal\Json;
use DelayQueue\Internal\Moment as InternalMoment;

/** How times, lengths of time and stored bytes are written. */
final class Text
{
    /** Unix seconds as a moment in UTC, to the millisecond. */
    public static function moment(float $seconds): string
    {
        return InternalMoment::of($seconds)->format('Y-m-d\TH:i:s.v\Z');
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

    /** A count in at most five characters: 99999, 123k, 1.2M. */
    public static function number(int $number): string
    {
        if ($number < 100_000) {
            return (string) $number;
        }
        foreach (['k' => 1e3, 'M' => 1e6, 'G' => 1e9, 'T' => 1e12] as $unit => $size) {
            if ($number < 999.5 * $size || $unit === 'T') {
                break;
            }
        }
        $text = sprintf($number < 9.95 * $size ? '%.1F' : '%.0F', $number / $size);

        return $text . $unit;
    }

    /** On one line, and no longer than this many characters. */
    public static function short(string $text, int $length): string
    {
        $line = (string) preg_replace('/[\x00-\x1F\x7F]+/', ' ', $text);
        // Not in the middle of a character, if it is text.
        $cut = preg_match("/^.{0,$length}/u", $line, $match) === 1 ? $match[0] : substr($line, 0, $length);

        return $cut === $line ? $line : "{$cut}…";
    }

    /** Stored bytes for a reader: on one line, and without anything that a terminal would obey. */
    public static function printable(string $bytes): string
    {
        if (preg_match('//u', $bytes) !== 1) {
            $bytes = (string) preg_replace_callback('/[\x80-\xFF]/', static fn (array $byte): string => sprintf('\x%02X', ord($byte[0])), $bytes);
        }

        return Json::withoutOrders($bytes);
    }
}
