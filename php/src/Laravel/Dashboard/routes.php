<?php

declare(strict_types=1);

use DelayQueue\Laravel\Dashboard\DashboardController;
use Illuminate\Support\Facades\Route;

$dashboard = config('delayqueue.dashboard');

// It checks by itself where a change comes from: its pages have no token of the session. The class has another name from Laravel 13 on.
Route::name('delayqueue.dashboard')->match(['GET', 'POST'], trim($dashboard['path'], '/') . '/{path?}', DashboardController::class)
    ->where('path', '.*')
    ->middleware($dashboard['middleware'])
    ->withoutMiddleware(['Illuminate\Foundation\Http\Middleware\VerifyCsrfToken', 'Illuminate\Foundation\Http\Middleware\PreventRequestForgery']);
