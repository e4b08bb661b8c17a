<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use DelayQueue\Laravel\Job;
use Illuminate\Cache\RateLimiter;
use Illuminate\Cache\RateLimiting\Limit;
use Illuminate\Queue\Middleware\RateLimited;

/** Jobs that middleware releases. */
abstract class ReleaseTestCase extends LaravelTestCase
{
    protected const COMMANDS = ['queue:work', 'delayqueue:work'];

    protected function tearDown(): void
    {
        HeldDeed::$behind = null;
        parent::tearDown();
    }

    /** @return string its id */
    protected function pushBehind(object $middleware, ?Deed $job = null, int $tries = 2): string
    {
        $job ??= new Deed('held');
        $job->tries = $tries;

        return $this->queue()->push($job->through([$middleware]));
    }

    /** More often than it has tries. */
    protected function runSixTimes(string $id, string ...$commands): void
    {
        for ($run = 0; $run < 6; $run++) {
            $this->work(($commands ?: self::COMMANDS)[$run % count($commands ?: self::COMMANDS)], $id);
        }
    }

    /** @param string|null $id due now, should it be delayed */
    protected function work(string $command, ?string $id = null): void
    {
        $id === null || $this->queue()->reschedule($id, 0);
        $this->artisan($command, ['--once' => true, '--sleep' => 0]);
    }

    protected function take(string $id): Job
    {
        $this->queue()->reschedule($id, 0);
        $job = $this->queue()->pop();
        $this->assertInstanceOf(Job::class, $job);

        return $job;
    }

    protected function assertRunsAsItsFirstTry(string $id): void
    {
        $this->assertSame([0, 0], [$this->lines('/^begin held /'), $this->lines('/^failed /')]);
        $this->work('queue:work', $id);
        $this->assertSame([1, 0], [$this->lines('/^end held 1 /'), $this->queue()->size()]);
        $this->forget();
    }

    /** Another job uses up what the limit allows. */
    protected function closeApi(string $middleware = RateLimited::class): void
    {
        $this->app->make(RateLimiter::class)->for('api', static fn (): Limit => Limit::perHour(1));
        dispatch((new Deed('first'))->through([new $middleware('api')]));
        $this->work('queue:work');
        $this->assertSame(1, $this->lines('/^end first 1 /'));
    }

    protected function openApi(): void
    {
        $this->app->make(RateLimiter::class)->for('api', static fn (): Limit => Limit::none());
    }

    /** For another round of the same test. */
    protected function forget(): void
    {
        $this->queue()->native()->purge();
        $this->app['cache']->store()->flush();
        Journal::clear();
    }
}
