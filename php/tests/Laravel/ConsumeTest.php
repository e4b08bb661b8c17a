<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\WorkerTests;
use DelayQueue\Tests\Support\Wait;

/** delayqueue:work. */
final class ConsumeTest extends WorkerTests
{
    protected const WORK = ['delayqueue:work'];

    public function testManyJobsTakeFewRoundTrips(): void
    {
        $this->queue()->bulk(array_map(static fn (int $n): Deed => new Deed("job $n"), range(1, 200)));
        $redis = $this->app['redis']->connection()->client();
        $redis->rawCommand('CONFIG', 'RESETSTAT');
        $worker = $this->start(...self::WORK, ...['--stop-when-empty', '--prefetch=50']);
        $this->assertSame(0, $worker->exitCode(30));
        $this->assertSame(200, $this->lines('/^end/'));
        preg_match('/calls=(\d+)/', $redis->info('commandstats')['cmdstat_evalsha'], $found);
        $this->assertLessThan(60, (int) $found[1]);
    }

    public function testJobsThatWereFetchedButNotRunAreGivenBackUncounted(): void
    {
        Deed::dispatch('busy', 1);
        foreach (range(1, 5) as $n) {
            Deed::dispatch("next $n");
        }
        $worker = $this->start(...self::WORK, ...['--prefetch=10']);
        $this->awaitLine('/^begin busy/');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode(20));
        $this->assertSame(5, $this->queue()->pendingSize());
        $this->boot(['block_for' => 0]);
        $this->assertSame(1, $this->queue()->pop()->attempts());
    }

    public function testTheTimeLimitOfTheWorkerHoldsForJobsWithoutOne(): void
    {
        // As a view does it, which wraps what is thrown in it.
        $job = new Deed('endless', 30, 'wrap');
        $job->tries = 1;
        dispatch($job);
        $this->start(...self::WORK, ...['--timeout=1']);
        $this->awaitLine('/^failed endless/', 15);
        $this->assertSame(0, $this->lines('/^end/'));
    }

    public function testAJobThatOutlastsTheShutdownTimeoutIsGivenBackUncounted(): void
    {
        // As a view does it, which wraps what is thrown in it.
        $job = new Deed('endless', 30, 'wrap');
        $job->tries = 1;
        dispatch($job);
        $worker = $this->start(...self::WORK, ...['--shutdown-timeout=300ms']);
        $this->awaitLine('/^begin endless/');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode(20));
        $this->assertSame([0, 0], [$this->lines('/^end/'), $this->lines('/^failed/')]);
        $this->boot(['block_for' => 0]);
        $this->assertSame(1, $this->queue()->pop()->attempts());
    }

    public function testOnceRunsOneJob(): void
    {
        Deed::dispatch('one');
        Deed::dispatch('two');
        $worker = $this->start(...self::WORK, ...['--once']);
        $this->assertSame(0, $worker->exitCode(20));
        $this->assertSame(1, $this->lines('/^end/'));
        $this->assertSame(1, $this->queue()->size());
    }

    public function testAnotherDriverIsRefused(): void
    {
        $worker = $this->start('delayqueue:work', 'redis');
        $this->assertSame(1, $worker->exitCode(20));
        $this->assertStringContainsString('[redis] is not of the driver delayqueue', $worker->errors() . $worker->rest());
    }

    public function testTheMaintenanceModeStopsWorkUntilItIsOver(): void
    {
        $this->startWaiting(...self::WORK, ...['--sleep=1']);
        $down = $this->app->storagePath() . '/framework/down';
        file_put_contents($down, '{}');
        $redis = $this->app['redis']->connection()->client();
        Wait::until(static fn (): bool => $redis->zCard('test_dq:{default}:waiters') === 0, 20, 'no worker that waits');
        Deed::dispatch('patient');
        unlink($down);
        $this->awaitLine('/^end patient/');
    }

    /** A job that exceeds its time ends by an exception, its worker goes on. */
    protected function supervise(): void
    {
        $this->start(...self::WORK);
    }
}
