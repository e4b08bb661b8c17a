<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DateTimeImmutable;
use DateTimeZone;

/** How times, lengths of time and stored bytes are written. */
final class Text
{
    /**
     * Characters that give orders to a terminal, or that change the order in which it shows others: controls, both ends of a line
     * as Unicode has them, marks and overrides of the direction of writing.
     */
    private const ORDERS = '/[\x00-\x1F\x7F-\x{9F}\x{61C}\x{200E}\x{200F}\x{2028}-\x{202E}\x{2066}-\x{2069}]/u';

    /** Unix seconds as a moment in UTC, to the millisecond. */
    public static function moment(float $seconds): string
    {
        return self::toMoment($seconds)->format('Y-m-d\TH:i:s.v\Z');
    }

    /** The moment itself, exact to the microsecond. */
    public static function toMoment(float $seconds): DateTimeImmutable
    {
        $moment = DateTimeImmutable::createFromFormat('U.u', sprintf('%.6F', $seconds), new DateTimeZone('UTC'));

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

        return (string) preg_replace_callback(self::ORDERS, static fn (array $character): string => self::escaped($character[0]), $bytes);
    }

    /** One line of JSON; bytes that are not UTF-8 are replaced. A terminal may show it: it has no control characters. */
    public static function json(mixed $value): string
    {
        $readable = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;
        $json = json_encode($value, $readable | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR);

        return (string) preg_replace_callback(self::ORDERS, static fn (array $character): string => self::escaped($character[0]), $json);
    }

    /** As JSON writes a character in a string that is to be ASCII. */
    private static function escaped(string $character): string
    {
        // PHP writes DEL as it is.
        return $character === "\x7F" ? '\u007f' : substr(json_encode($character, JSON_THROW_ON_ERROR), 1, -1);
    }
}
