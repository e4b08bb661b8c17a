<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use DelayQueue\Bury;
use DelayQueue\JobInterface;
use Throwable;
use ValueError;

/**
 * Middleware: only a job that fails by one of these exceptions is tried again. By any other it is buried at once.
 *
 *     new Pipeline($handler, new RetryOnly(NetworkException::class, TimeoutException::class))
 *
 * A handler that returns false fails as without it. The lastError of a buried job tells the exception.
 */
final class RetryOnly
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
            throw Failure::is($error) && !Failure::isOneOf($error, $this->exceptions) ? Failure::bury($error) : $error;
        }
    }
}
