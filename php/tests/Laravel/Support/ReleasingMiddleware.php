<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

/** A middleware of an application, of none of Laravel's classes. */
final class ReleasingMiddleware
{
    public function __construct(private readonly ?bool $countAttempt = null)
    {
    }

    public function handle(Deed $deed, callable $next): void
    {
        $this->countAttempt === null ? $deed->release() : $deed->job->release(0, countAttempt: $this->countAttempt);
    }
}
