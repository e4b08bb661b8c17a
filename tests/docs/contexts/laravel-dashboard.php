<?php

/** An application with a user who is of the staff and no administrator; after the sample they look, and may change nothing. */

use Illuminate\Auth\AuthServiceProvider;
use Illuminate\Auth\GenericUser;
use Illuminate\Contracts\Http\Kernel as HttpKernel;
use Illuminate\Foundation\Http\Kernel;
use Illuminate\Http\Request;
use Illuminate\Support\Facades\Gate;

require getenv('CONTEXTS') . '/shared/laravel.php';

final class User extends GenericUser
{
    public function isStaff(): bool
    {
        return true;
    }

    public function isAdmin(): bool
    {
        return false;
    }
}

$app['config']->set('auth', ['defaults' => ['guard' => 'web'], 'guards' => ['web' => ['driver' => 'ours']], 'providers' => []]);
$app->register(AuthServiceProvider::class);
$app['auth']->viaRequest('ours', static fn (): User => new User(['id' => 7]));
$app->singleton(HttpKernel::class, Kernel::class);
$kernel = $app->make(HttpKernel::class);
$app['router']->middlewareGroup('web', []);

// The sample.

$ask = static fn (string $method, string $path): int => $kernel->handle(Request::create($path, $method, [], [], [], ['HTTP_SEC_FETCH_SITE' => 'same-origin']))->getStatusCode();
if ([$ask('GET', '/delayqueue'), $ask('POST', '/delayqueue/queue/pause')] !== [200, 403]) {
    exit(1);
}
