<?php

declare(strict_types=1);

namespace DelayQueue\Http;

use DateTimeImmutable;
use DateTimeZone;

/**
 * The Retry-After header: seconds, or a moment in one of the three forms of an HTTP date.
 *
 * @internal
 */
final class RetryAfter
{
    private const FORMS = ['D, d M Y H:i:s \G\M\T', 'l, d-M-y H:i:s \G\M\T', 'D M j H:i:s Y'];

    /**
     * @param string|null $date the receiver's own idea of now (its Date header), by which its moment is meant
     *
     * @return int|null seconds, at least 1; null if it says nothing, or a time that has passed
     */
    public static function seconds(?string $value, ?string $date): ?int
    {
        $value = trim((string) $value);
        $seconds = preg_match('/^\d+$/D', $value)
            ? (int) $value // too many digits give PHP_INT_MAX
            : (self::moment($value) ?? 0) - (self::moment((string) $date) ?? time());

        return $seconds > 0 ? $seconds : null;
    }

    /** Unix seconds. */
    private static function moment(string $text): ?int
    {
        $text = (string) preg_replace('/ +/', ' ', trim($text));
        foreach (self::FORMS as $form) {
            $moment = DateTimeImmutable::createFromFormat("!$form", $text, new DateTimeZone('UTC'));
            if ($moment !== false) {
                return $moment->getTimestamp();
            }
        }

        return null;
    }
}
