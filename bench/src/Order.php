<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** The message that all peers carry: an order to close. Ids have 16 bytes, payloads 213 unless told otherwise. */
final class Order
{
    public const BYTES = 213;

    private const BEFORE_NUMBER = '{"event":"order.close","order_id":"';

    private const AFTER_NUMBER = '","amount":"129.90","currency":"EUR","items":[{"sku":"SKU-88412","qty":2},'
        . '{"sku":"SKU-10233","qty":1}],"shop":"';

    /** @param int<0, 999999999999999> $number */
    public static function id(int $number): string
    {
        return 'o' . self::digits($number);
    }

    /** @param int<0, 999999999999999> $number kept in the payload, if it has room for it */
    public static function payload(int $number, int $bytes = self::BYTES): string
    {
        $end = '"}';
        $order = self::BEFORE_NUMBER . self::digits($number) . self::AFTER_NUMBER;
        $missing = $bytes - strlen($order) - strlen($end);

        return $missing >= 0 ? $order . str_repeat('x', $missing) . $end : str_pad((string) $number, $bytes, '0', STR_PAD_LEFT);
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

    /** 15 digits: room for a clock in microseconds. */
    private static function digits(int $number): string
    {
        return substr((string) (1_000_000_000_000_000 + $number), 1);
    }
}
