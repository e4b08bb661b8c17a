<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use DelayQueue\Bury;
use DelayQueue\LeaseLostException;
use DelayQueue\Release;
use DelayQueue\ShutdownException;
use Throwable;

/**
 * Tells the failures of a handler from the exceptions by which it decides, and from those by which the loop ends it.
 *
 * @internal
 */
final class Failure
{
    /** Not of RateLimited, a Release, nor of CancelledException, a LeaseLostException. */
    public static function is(Throwable $error): bool
    {
        return !$error instanceof Release && !$error instanceof Bury && !$error instanceof LeaseLostException && !$error instanceof ShutdownException;
    }

    /** @param list<class-string> $classes */
    public static function isOneOf(Throwable $error, array $classes): bool
    {
        foreach ($classes as $class) {
            if ($error instanceof $class) {
                return true;
            }
        }

        return false;
    }

    /** Sets the job aside; what the loop hears and stores tells of the exception. */
    public static function bury(Throwable $error): Bury
    {
        return new Bury(sprintf('%s: %s in %s:%d', get_debug_type($error), $error->getMessage(), $error->getFile(), $error->getLine()), 0, $error);
    }
}
