<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\Internal\Excerpt;

/**
 * The header that tells a job of onFailure which job was buried, and why.
 *
 * @internal
 */
final class Failure
{
    private const MAX_CHARACTERS = 500;

    /** @param array<string, mixed> $buried */
    public static function header(array $buried, string $error): string
    {
        $flags = JSON_THROW_ON_ERROR | JSON_INVALID_UTF8_SUBSTITUTE | JSON_UNESCAPED_UNICODE | JSON_UNESCAPED_SLASHES;

        return json_encode($buried + ['error' => Excerpt::of($error, self::MAX_CHARACTERS)], $flags);
    }
}
