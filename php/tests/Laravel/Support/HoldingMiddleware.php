<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use DelayQueue\Laravel\Middleware\HoldsBack;

/** A middleware of an application whose releases mean "not now". */
final class HoldingMiddleware implements HoldsBack
{
    public function handle(Deed $deed, callable $next): void
    {
        is_file(storage_path('held')) ? $deed->release() : $next($deed);
    }
}
