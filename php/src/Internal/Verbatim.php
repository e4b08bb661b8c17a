<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use JsonSerializable;

/**
 * JSON that Json::line() and ExactJson::encode() write as it is: decoding and encoding it again would turn {} into [],
 * and round big numbers.
 *
 * @internal
 */
final class Verbatim implements JsonSerializable
{
    /** @param string $json valid */
    public function __construct(public readonly string $json)
    {
    }

    /** A string that reveal() knows. */
    public function jsonSerialize(): string
    {
        return self::mark() . base64_encode($this->onOneLine());
    }

    /** Puts the JSON of all objects of this class into an encoded text. */
    public static function reveal(string $encoded): string
    {
        $mark = self::mark();
        if (!str_contains($encoded, $mark)) {
            return $encoded;
        }

        return (string) preg_replace_callback("~\"$mark([A-Za-z0-9+/=]*+)\"~", static fn (array $found): string => (string) base64_decode($found[1]), $encoded);
    }

    /** Without blanks between its values; those within strings stay. */
    private function onOneLine(): string
    {
        return preg_replace('/("(?:[^"\\\\]++|\\\\.)*+")|\s++/', '$1', $this->json) ?? $this->json;
    }

    /** Nobody can guess it, so no stored text is taken for such an object. */
    private static function mark(): string
    {
        static $mark = null;

        return $mark ??= 'verbatim-' . bin2hex(random_bytes(16)) . '-';
    }
}
