<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use DelayQueue\Bury;
use DelayQueue\JobInterface;
use Throwable;
use ValueError;

/**
 * Middleware: a job that fails by one of these exceptions is buried at once, because another attempt would fail as well.
 *
 *     new Pipeline($handler, new DontRetry(InvalidArgumentException::class, OrderIsGone::class))
 *
 * All others are tried again, as without it. Its lastError tells the exception.
 */
final class DontRetry
{
    /** @var list<class-string> */
    private readonly array $exceptions;

    /**
     * @param class-string $exception a class or an interface
     * @param class-string ...$more
     *
     * @throws ValueError for a name of no exception
     */
    public function __construct(string $exception, string ...$more)
    {
        $this->exceptions = Arguments::exceptions([$exception, ...array_values($more)], self::class);
    }

    /** @throws Bury */
    public function __invoke(JobInterface $job, callable $next): mixed
    {
        try {
            return $next($job);
        } catch (Throwable $error) {
            throw Failure::is($error) && Failure::isOneOf($error, $this->exceptions) ? Failure::bury($error) : $error;
        }
    }
}
