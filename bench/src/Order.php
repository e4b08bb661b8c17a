<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/**
 * The message that all peers carry: an order to close. Ids have 16 bytes, payloads 213 unless told otherwise. No two orders are alike, so that
 * nobody saves more on them than on real ones.
 */
final class Order
{
    public const BYTES = 213;

    private const BEFORE_NUMBER = '{"event":"order.close","order_id":"';

    /** @param int<0, 999999999999999> $number */
    public static function id(int $number): string
    {
        return 'o' . self::digits($number);
    }

    /** @param int<0, 999999999999999> $number kept in the payload, if it has room for it */
    public static function payload(int $number, int $bytes = self::BYTES): string
    {
        $other = hexdec(substr(md5((string) $number), 0, 14));
        $order = self::BEFORE_NUMBER . self::digits($number) . '","user_id":' . (100_000 + $other % 900_000)
            . ',"amount":"' . (10 + $other % 90) . '.90","currency":"EUR","create_time":' . (1_700_000_000 + $other % 10_000_000)
            . ',"items":[' . self::item($other, 0);
        $end = '],"shop":"shop-' . (10 + $other % 90) . '"}';
        for ($n = 1; strlen($order . ',' . self::item($other, $n) . $end) <= $bytes; $n++) {
            $order .= ',' . self::item($other, $n);
        }
        $missing = $bytes - strlen($order . $end);

        return $missing >= 0
            ? $order . substr($end, 0, -2) . substr(self::noise($other, $missing), 0, $missing) . '"}'
            : str_pad((string) $number, $bytes, '0', STR_PAD_LEFT);
    }

    /** The number of a payload of normal size. */
    public static function number(string $payload): int
    {
        return (int) substr($payload, strlen(self::BEFORE_NUMBER), 15);
    }

    /** Jobs that are not due yet fall due over an hour, in no order. */
    public static function delayMs(int $number, int $delayMs): int
    {
        return $delayMs === 0 ? 0 : $delayMs + $number * 7919 % 3_600_000;
    }

    private static function item(int $other, int $n): string
    {
        return '{"sku":"SKU-' . (10_000 + ($other >> $n) % 90_000) . '","qty":' . (1 + ($other >> $n) % 9) . '}';
    }

    private static function noise(int $other, int $bytes): string
    {
        $noise = '';
        while (strlen($noise) < $bytes) {
            $noise .= md5($noise . $other);
        }

        return $noise;
    }

    /** 15 digits: room for a clock in microseconds. */
    private static function digits(int $number): string
    {
        return substr((string) (1_000_000_000_000_000 + $number), 1);
    }
}
