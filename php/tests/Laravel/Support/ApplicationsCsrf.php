<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Illuminate\Foundation\Http\Middleware\PreventRequestForgery;
use Illuminate\Foundation\Http\Middleware\VerifyCsrfToken;

class_alias(class_exists(PreventRequestForgery::class) ? PreventRequestForgery::class : VerifyCsrfToken::class, __NAMESPACE__ . '\FrameworksCsrf');

/** A class of the application, as in App\Http\Middleware. */
final class ApplicationsCsrf extends FrameworksCsrf
{
}
