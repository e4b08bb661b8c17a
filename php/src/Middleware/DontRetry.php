<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

/**
 * Middleware: a job that fails by one of these exceptions is buried at once, because another attempt would fail as well.
 *
 *     new Pipeline($handler, new DontRetry(InvalidArgumentException::class, OrderIsGone::class))
 *
 * All others are tried again, as without it. Its lastError tells the exception.
 */
final class DontRetry
{
    use BuriesByException;

    private static function isFinal(bool $isNamed): bool
    {
        return $isNamed;
    }
}
