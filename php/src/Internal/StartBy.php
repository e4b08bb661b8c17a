<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DateInterval;
use DateTimeInterface;
use DelayQueue\OnExpiry;

/**
 * The header of a job that must be started in time: "@1767225600.000000 bury", or "60 drop" from when it is due. The
 * worker of a framework looks at it, and not Redis, so that the framework sees the end of a job that is late.
 *
 * @internal
 */
final class StartBy
{
    private const HEADER = 'dq-expires';

    /**
     * @param string $method and the argument of it that has the time, for errors
     *
     * @return array<string, string>
     */
    public static function header(
        int|float|string|DateInterval|DateTimeInterface $time,
        OnExpiry $onExpiry,
        string $method,
        string $argument,
    ): array {
        $text = $time instanceof DateTimeInterface
            ? '@' . $time->format('U.u')
            : (string) Seconds::positive($time, $method, $argument);

        return [self::HEADER => "$text $onExpiry->value"];
    }

    /**
     * @param array<array-key, string> $headers
     *
     * @return float|null Unix seconds; null: it may be started at any time
     */
    public static function at(array $headers, float $dueAt): ?float
    {
        $time = explode(' ', $headers[self::HEADER] ?? '')[0];

        return match (true) {
            $time === '' => null,
            str_starts_with($time, '@') => (float) substr($time, 1),
            default => $dueAt + (float) $time,
        };
    }

    /**
     * Whether a late job is dropped; else it has failed.
     *
     * @param array<array-key, string> $headers
     */
    public static function isDropped(array $headers): bool
    {
        return str_ends_with($headers[self::HEADER] ?? '', ' ' . OnExpiry::Drop->value);
    }

    /**
     * The change of headers of a job that was started in time: it may come again as late as it likes.
     *
     * @param array<array-key, string> $headers
     *
     * @return array<string, null>|null for Job::update(); null: it has no such header
     */
    public static function without(array $headers): ?array
    {
        return isset($headers[self::HEADER]) ? [self::HEADER => null] : null;
    }
}
