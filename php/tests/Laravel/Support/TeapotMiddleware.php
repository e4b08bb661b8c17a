<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use Closure;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Response;

final class TeapotMiddleware
{
    public function handle(Request $request, Closure $next): Response
    {
        $answer = $next($request);
        $answer->headers->set('x-teapot', 'short and stout');

        return $answer;
    }
}
