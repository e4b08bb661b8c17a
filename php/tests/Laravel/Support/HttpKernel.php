<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Cookie\Middleware\AddQueuedCookiesToResponse;
use Illuminate\Cookie\Middleware\EncryptCookies;
use Illuminate\Foundation\Http\Kernel;
use Illuminate\Foundation\Http\Middleware\ConvertEmptyStringsToNull;
use Illuminate\Foundation\Http\Middleware\TrimStrings;
use Illuminate\Routing\Middleware\SubstituteBindings;
use Illuminate\Session\Middleware\StartSession;

/** The middleware that a new application of Laravel has, as far as it meets the dashboard. */
final class HttpKernel extends Kernel
{
    protected $middleware = [TrimStrings::class, ConvertEmptyStringsToNull::class];

    protected $middlewareGroups = ['web' => [
        EncryptCookies::class, AddQueuedCookiesToResponse::class, StartSession::class, ApplicationsCsrf::class, SubstituteBindings::class,
    ]];
}
