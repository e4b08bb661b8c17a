<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\WorkerTests;
use DelayQueue\Tests\Support\Wait;
use Illuminate\Queue\Events\WorkerStopping;
use Illuminate\Queue\WorkerOptions;
use Illuminate\Queue\WorkerStopReason;

/** delayqueue:work. */
final class ConsumeTest extends WorkerTests
{
    protected const WORK = ['delayqueue:work'];

    public function testEachJobTakesOneRoundTrip(): void
    {
        $this->queue()->bulk(array_map(static fn (int $n): Deed => new Deed("job $n"), range(1, 100)));
        $redis = $this->app['redis']->connection()->client();
        $redis->rawCommand('CONFIG', 'RESETSTAT');
        $worker = $this->start(...self::WORK, ...['--stop-when-empty']);
        $this->assertSame(0, $worker->exitCode(30));
        $this->assertSame(100, $this->lines('/^end/'));
        preg_match('/calls=(\d+)/', $redis->info('commandstats')['cmdstat_evalsha'], $found);
        $this->assertLessThan(150, (int) $found[1]);
    }

    public function testWorkerStoppingTellsWhyAndWhatWasDone(): void
    {
        $heard = $this->listenFor(WorkerStopping::class);
        Deed::dispatch('only');
        $this->artisan('delayqueue:work', ['--stop-when-empty' => true]);
        Deed::dispatch('one');
        Deed::dispatch('two');
        $this->artisan('delayqueue:work', ['--max-jobs' => 1]);
        $this->assertSame([0, 0], [$heard[0]->status, $heard[1]->status]);
        if (property_exists($heard[0], 'workerOptions')) {
            $this->assertInstanceOf(WorkerOptions::class, $heard[0]->workerOptions);
        }
        // Laravel 13.
        if (property_exists($heard[0], 'reason')) {
            $this->assertSame(['QueueEmpty', 'MaxJobsExceeded'], [$heard[0]->reason->name, $heard[1]->reason->name]);
            $this->assertSame([1, 1], [$heard[0]->jobsProcessed, $heard[1]->jobsProcessed]);
            $this->assertGreaterThan(0, $heard[0]->lastJobProcessedAt);
        }
    }

    public function testAWorkerThatLosesItsDatabaseEnds(): void
    {
        Deed::dispatch('unlucky', 0, 'lose the database');
        Deed::dispatch('next');
        $worker = $this->start(...self::WORK);
        $this->assertSame(0, $worker->exitCode(20));
        $this->assertSame([1, 0], [$this->lines('/^begin unlucky/'), $this->lines('/^begin next/')]);
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
