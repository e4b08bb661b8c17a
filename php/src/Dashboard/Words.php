<?php

declare(strict_types=1);

namespace DelayQueue\Dashboard;

use DateTimeImmutable;
use DelayQueue\Internal\Moment;

/** How numbers, moments and lengths of time are written for people. */
final class Words
{
    public static function number(int $number): string
    {
        return number_format($number, 0, '.', "\u{202F}");
    }

    /** Seconds with one or two units: 12 ms, 4.2 s, 15 min, 2 h 30 min, 3 d 4 h. */
    public static function length(float $seconds): string
    {
        if ($seconds < 1) {
            return sprintf('%d ms', round($seconds * 1000));
        }
        if ($seconds < 60) {
            return rtrim(rtrim(sprintf('%.1F', $seconds), '0'), '.') . ' s';
        }
        $left = (int) round($seconds);
        $parts = [];
        foreach (['d' => 86400, 'h' => 3600, 'min' => 60, 's' => 1] as $unit => $length) {
            $parts[] = intdiv($left, $length) . " $unit";
            $left %= $length;
        }
        $parts = array_values(array_filter($parts, static fn (string $part): bool => $part[0] !== '0'));

        return implode(' ', array_slice($parts, 0, 2));
    }

    /** Unix seconds as a moment, and how far from now that is. */
    public static function moment(float $seconds, float $now): Html
    {
        $distance = $seconds - $now;
        $moment = Moment::of($seconds);

        return Html::time(
            $distance >= 0 ? 'in ' . self::length($distance) : self::length(-$distance) . ' ago',
            datetime: $moment->format(DateTimeImmutable::RFC3339_EXTENDED),
            title: $moment->format('Y-m-d H:i:s.v') . ' UTC',
        );
    }
}
