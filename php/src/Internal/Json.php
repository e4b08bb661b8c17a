<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

/**
 * A value on one line of JSON, which a terminal may show.
 *
 * @internal
 */
final class Json
{
    /**
     * Characters that give orders to a terminal, or that change the order in which it shows others: controls, both ends of a line
     * as Unicode has them, marks and overrides of the direction of writing.
     */
    private const ORDERS = '/[\x00-\x1F\x7F-\x{9F}\x{61C}\x{200E}\x{200F}\x{2028}-\x{202E}\x{2066}-\x{2069}]/u';

    /** Bytes that are not UTF-8 are replaced. A Verbatim in the value is written as it is. */
    public static function line(mixed $value): string
    {
        $readable = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION;

        return self::withoutOrders(Verbatim::reveal(json_encode($value, $readable | JSON_INVALID_UTF8_SUBSTITUTE | JSON_THROW_ON_ERROR)));
    }

    /** These characters as JSON writes them in a string that is to be ASCII. */
    public static function withoutOrders(string $text): string
    {
        // PHP writes DEL as it is.
        $escaped = static fn (array $match): string => $match[0] === "\x7F" ? '\u007f' : substr(json_encode($match[0], JSON_THROW_ON_ERROR), 1, -1);

        return (string) preg_replace_callback(self::ORDERS, $escaped, $text);
    }
}
