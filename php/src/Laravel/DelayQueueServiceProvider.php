<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use Illuminate\Container\Container;
use Illuminate\Contracts\Foundation\CachesConfiguration;
use Illuminate\Foundation\Console\AboutCommand;
use Illuminate\Queue\Console\RetryCommand as BaseRetryCommand;
use Illuminate\Queue\QueueManager;
use Illuminate\Queue\Worker as BaseWorker;
use Illuminate\Support\ServiceProvider;

/** Makes the driver `delayqueue` known. Composer's package discovery finds it by itself. */
final class DelayQueueServiceProvider extends ServiceProvider
{
    public function register(): void
    {
        $this->mergeConfigFrom(__DIR__ . '/connection.php', 'queue.connections.delayqueue');
        $this->addDefaults();
        $this->callAfterResolving('queue', function (QueueManager $manager): void {
            $manager->addConnector('delayqueue', fn (): Connector => new Connector($this->app['config']));
        });
        $this->app->singleton(Manager::class, static fn ($app): Manager => new Manager($app['queue'], $app['config']));
        // Another package's worker stays: it has its reasons.
        $this->app->extend('queue.worker', static fn (BaseWorker $worker): BaseWorker => $worker::class === BaseWorker::class
            ? Worker::inPlaceOf($worker)
            : $worker);
        // By its class, or as Laravel 8 names it.
        foreach ([BaseRetryCommand::class, 'command.queue.retry'] as $name) {
            $isTheirs = static fn (BaseRetryCommand $command): bool => $command::class === BaseRetryCommand::class;
            $this->app->extend($name, static fn (BaseRetryCommand $command): BaseRetryCommand => $isTheirs($command)
                ? new Console\RetryCommand()
                : $command);
        }
        $this->app->singleton(ConsumingWorker::class, static fn ($app): ConsumingWorker => ConsumingWorker::inPlaceOf($app['queue.worker']));
    }

    public function boot(): void
    {
        $this->app['events']->listen('Illuminate\Queue\Events\QueuePaused', [Pauses::class, 'pause']);
        $this->app['events']->listen('Illuminate\Queue\Events\QueueResumed', [Pauses::class, 'resume']);
        if ((string) $this->app['config']['delayqueue.dashboard.path'] !== '') {
            $this->loadRoutesFrom(__DIR__ . '/Dashboard/routes.php');
        }
        if ($this->app->runningInConsole()) {
            $this->commands([
                Console\CancelCommand::class,
                Console\ImportCommand::class,
                Console\RelayCommand::class,
                Console\RescheduleCommand::class,
                Console\ShowCommand::class,
                Console\WorkCommand::class,
            ]);
            $this->publishes([
                __DIR__ . '/Database/migration.php' => $this->app->databasePath('migrations/2026_11_01_000000_create_delayqueue_tables.php'),
            ], 'delayqueue-migrations');
            $this->publishes([__DIR__ . '/config.php' => $this->app->configPath('delayqueue.php')], 'delayqueue-config');
            $this->describe();
        }
    }

    /** Of config/delayqueue.php, where each line may be left out. mergeConfigFrom() would take a section as a whole. */
    private function addDefaults(): void
    {
        if ($this->app instanceof CachesConfiguration && $this->app->configurationIsCached()) {
            return;
        }
        foreach (require __DIR__ . '/config.php' as $section => $defaults) {
            $this->app['config']->set("delayqueue.$section", array_replace($defaults, (array) $this->app['config']->get("delayqueue.$section", [])));
        }
    }

    /** A section of `php artisan about`, from Laravel 9 on. */
    private function describe(): void
    {
        if (class_exists(AboutCommand::class)) {
            // Kept beyond the application, where there are several in one process: it is looked for when it is asked.
            AboutCommand::add('DelayQueue', static fn (): array => [
                'Extension' => phpversion('delayqueue') ?: 'not loaded',
                'Default connection' => Container::getInstance()['config']['queue.default'],
                'Prefix of keys' => Prefix::of(
                    (array) Container::getInstance()['config']['queue.connections.delayqueue'],
                    (array) Container::getInstance()['config']['database.redis'],
                ),
                'Lease' => Container::getInstance()['config']['queue.connections.delayqueue.retry_after'] . ' s',
            ]);
        }
    }
}
