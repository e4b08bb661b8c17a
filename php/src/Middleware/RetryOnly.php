<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

/**
 * Middleware: only a job that fails by one of these exceptions is tried again. By any other it is buried at once.
 *
 *     new Pipeline($handler, new RetryOnly(NetworkException::class, TimeoutException::class))
 *
 * The lastError of a buried job tells the exception.
 */
final class RetryOnly
{
    use BuriesByException;

    private static function isFinal(bool $isNamed): bool
    {
        return !$isNamed;
    }
}
