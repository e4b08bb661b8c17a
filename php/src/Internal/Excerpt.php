<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

/**
 * Foreign bytes for a line of text.
 *
 * @internal
 */
final class Excerpt
{
    /** At most $length characters of it on one line: no control characters, no invalid UTF-8. */
    public static function of(string $bytes, int $length): string
    {
        $head = substr($bytes, 0, 8 * $length);
        $text = json_decode((string) json_encode($head, JSON_INVALID_UTF8_SUBSTITUTE), flags: JSON_THROW_ON_ERROR);
        $line = trim((string) preg_replace('/[\p{C}\p{Z}\s]+/u', ' ', $text));
        preg_match("/^.{0,$length}/u", $line, $short);

        return $short[0] === $line && strlen($head) === strlen($bytes) ? $line : rtrim($short[0]) . '…';
    }
}
