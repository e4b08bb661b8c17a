<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DelayQueue\JobInterface;
use JsonException;

/**
 * A value that Job::update() stores as the payload that the job has already.
 *
 * @internal
 */
final class SamePayload
{
    /** As the extension encodes payloads. */
    private const FLAGS = JSON_UNESCAPED_SLASHES | JSON_UNESCAPED_UNICODE | JSON_PRESERVE_ZERO_FRACTION | JSON_THROW_ON_ERROR;

    private const STRING_OR_NUMBER = '/("(?:[^"\\\\]++|\\\\.)*+")|-?\d[\d.eE+-]*+/s';

    private function __construct(public readonly mixed $value)
    {
    }

    /** @return self|null null: PHP would write it otherwise, such as a number of 20 digits */
    public static function of(JobInterface $job): ?self
    {
        // Of a job of format "raw".
        if ($job->payload === $job->body) {
            return new self($job->body);
        }
        try {
            // Not $job->payload: an empty object is an empty array there.
            $value = json_decode($job->body, flags: JSON_THROW_ON_ERROR);
            $again = json_encode($value, self::FLAGS);

            return $again === $job->body || self::isSame($again, $job->body) ? new self($value) : null;
        } catch (JsonException) {
            return null;
        }
    }

    /** @return self|null null: it is longer than so many bytes */
    public static function ofNote(mixed $value, int $most): ?self
    {
        $bytes = is_string($value) ? $value : (string) json_encode($value);

        return strlen($bytes) > $most ? null : new self($value);
    }

    /** Whether they differ in nothing but blanks and the spelling of characters. Numbers are compared as they are written. */
    private static function isSame(string $one, string $other): bool
    {
        return self::withNumbersAsText($one) === self::withNumbersAsText($other);
    }

    private static function withNumbersAsText(string $json): mixed
    {
        $mark = static fn (array $match): string => isset($match[1]) ? $match[0] : "\"\u{FDD0}$match[0]\"";

        return json_decode((string) preg_replace_callback(self::STRING_OR_NUMBER, $mark, $json), true, flags: JSON_THROW_ON_ERROR);
    }
}
