<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use JsonException;

/**
 * JSON whose numbers stay as they were written when it is decoded and encoded again: PHP would round
 * 12345678901234567890.
 *
 * @internal
 */
final class ExactJson
{
    private const NUMBER = '/"(?:[^"\\\\]++|\\\\.)*+"(*SKIP)(*FAIL)|-?\d[\d.eE+-]*+/s';

    private const FLAGS = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE;

    /**
     * Objects are stdClass. Numbers that PHP would write otherwise are strings that encode() knows, in this process.
     *
     * @throws JsonException
     */
    public static function decode(string $json): mixed
    {
        $value = json_decode($json, flags: JSON_THROW_ON_ERROR);
        $exact = preg_replace_callback(self::NUMBER, self::marked(...), $json);

        return $exact === null || $exact === $json ? $value : json_decode($exact, flags: JSON_THROW_ON_ERROR);
    }

    /** @throws JsonException */
    public static function encode(mixed $value, int $flags = self::FLAGS): string
    {
        return Verbatim::reveal(json_encode($value, $flags | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR));
    }

    /** Null: PHP decodes and encodes it without a change. */
    public static function textUnlessPlain(mixed $value): ?string
    {
        $text = self::encode($value);
        $again = json_encode(json_decode($text), self::FLAGS | JSON_PRESERVE_ZERO_FRACTION);

        return $again === $text ? null : $text;
    }

    /** @param array{string} $match */
    private static function marked(array $match): string
    {
        $written = json_encode(json_decode($match[0]), JSON_PRESERVE_ZERO_FRACTION);

        return $written === $match[0] ? $match[0] : json_encode(new Verbatim($match[0]), JSON_THROW_ON_ERROR);
    }
}
