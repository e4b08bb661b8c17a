<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Dashboard;

use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\ChangeLog;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\HttpFoundation;
use DelayQueue\Database\Journal;
use DelayQueue\Laravel\Database\LaravelConnection;
use DelayQueue\Laravel\Manager;
use Illuminate\Contracts\Auth\Access\Gate;
use Illuminate\Contracts\Auth\Authenticatable;
use Illuminate\Contracts\Container\Container;
use Illuminate\Http\Request;
use Symfony\Component\HttpFoundation\Response;

/**
 * The dashboard behind a route of Laravel. The gate viewDelayQueue lets people in, and changeDelayQueue lets them change something. A gate that is not
 * defined lets nobody through, also on a developer's machine: a rule that is looser there is written into the gate.
 */
final class DashboardController
{
    public function __construct(private readonly Container $app)
    {
    }

    public function __invoke(Request $request): Response
    {
        $settings = $this->app['config']['delayqueue.dashboard'];
        $user = $request->user();
        $connection = $this->app->make(Manager::class)->connection($settings['connection']);
        $handler = new Handler(
            $connection->native(),
            $this->access(...),
            journal: $this->journal($settings['journal']),
            changed: $this->app->bound('log') ? new ChangeLog($this->app['log']) : null,
            cancel: $connection->cancelFound(...),
        );

        return HttpFoundation::response($handler->handle(HttpFoundation::request(
            $request,
            (string) $request->route('path'),
            $user instanceof Authenticatable ? (string) $user->getAuthIdentifier() : null,
        )));
    }

    private function access(): Access
    {
        $gate = $this->app->bound(Gate::class) ? $this->app->make(Gate::class) : null;

        return match (true) {
            $gate === null, !$gate->check('viewDelayQueue') => Access::None,
            $gate->check('changeDelayQueue') => Access::Write,
            default => Access::Read,
        };
    }

    private function journal(string|bool $connection): ?Journal
    {
        return $connection === false || $connection === ''
            ? null
            : new Journal(new LaravelConnection($this->app['db'], is_string($connection) ? $connection : null));
    }
}
