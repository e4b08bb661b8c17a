<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use DelayQueue\Bury;
use DelayQueue\JobInterface;
use Throwable;
use ValueError;

/**
 * Middleware that buries a job at once by the class of what its handler throws.
 *
 * @internal
 */
trait BuriesByException
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
            throw Failure::is($error) && self::isFinal(Failure::isOneOf($error, $this->exceptions)) ? Failure::bury($error) : $error;
        }
    }

    abstract private static function isFinal(bool $isNamed): bool;
}
