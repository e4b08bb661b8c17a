<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Queue\Middleware\WithoutOverlapping;

/** An application's own form of a middleware of Laravel, which releases by itself. */
final class OwnOverlapping extends WithoutOverlapping
{
    public function handle($job, $next)
    {
        is_file(storage_path('held')) ? $job->release(0) : $next($job);
    }
}
