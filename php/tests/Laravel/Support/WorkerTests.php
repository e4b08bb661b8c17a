<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel\Support;

use DelayQueue\OnDuplicate;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Wait;
use Illuminate\Contracts\Console\Kernel;
use Illuminate\Queue\Attributes\DebounceFor;
use Illuminate\Queue\QueueManager;

/** The work of a worker, under either command. */
abstract class WorkerTests extends LaravelTestCase
{
    use KilledWorkerTests;

    /** @var list<string> the command */
    protected const WORK = [];

    protected function setUp(): void
    {
        parent::setUp();
        $this->boot([]);
    }

    public function testAWaitingWorkerRunsAJobAtItsTime(): void
    {
        $this->startWaiting(...static::WORK);
        Deed::dispatch('timely')->delay(now()->addMilliseconds(1500))->identifiedBy('timely');
        $dueAt = $this->queue()->find('timely')->dueAt;
        $endedAt = (float) explode(' ', $this->awaitLine('/^end timely/'))[3];
        $this->assertGreaterThanOrEqual($dueAt, $endedAt + 0.001);
        $this->assertLessThan(
            3.0,
            $endedAt - $dueAt - Machine::stallsSince($dueAt),
            'by itself a waiter looks after four seconds',
        );
        Wait::until(fn (): bool => $this->queue()->size() === 0, 10, 'an empty queue');
    }

    public function testAWorkerServesItsFirstQueueFirstAndWaitsForAllAtOnce(): void
    {
        Deed::dispatch('low')->onQueue('low');
        Deed::dispatch('high')->onQueue('high');
        $this->start(...static::WORK, ...['--queue=high,low']);
        $this->awaitLine('/^end low/');
        $this->assertStringStartsWith('begin high', Journal::lines()[0]);

        $this->awaitWaiter('low');
        $this->awaitWaiter('high');
        $pushed = microtime(true);
        Deed::dispatch('again')->onQueue('low');
        $ended = (float) explode(' ', $this->awaitLine('/^end again/'))[3];
        $this->assertLessThan(
            3.0,
            $ended - $pushed - Machine::stallsSince($pushed),
            'by itself a waiter looks after four seconds',
        );
    }

    public function testAWorkerLeavesOutAQueueThatTheCacheCallsPaused(): void
    {
        if (!method_exists(QueueManager::class, 'isPaused')) {
            $this->assertArrayNotHasKey('queue:pause', $this->app->make(Kernel::class)->all());

            return;
        }
        $this->boot(['block_for' => 1]);
        $cache = $this->app['cache']->store();
        $cache->forever('illuminate:queue:paused:delayqueue:a', true);
        Deed::dispatch('one')->onQueue('a');
        Deed::dispatch('two')->onQueue('b');
        $this->start(...static::WORK, ...['--queue=a,b', '--sleep=1']);
        $this->awaitLine('/^end two/');
        $this->awaitWaiter('b');
        $this->assertSame(0, $this->lines('/^begin one/'));
        $cache->forget('illuminate:queue:paused:delayqueue:a');
        $this->awaitLine('/^end one/');
    }

    public function testALeaseOfTwoSecondsHoldsForAJobOfSix(): void
    {
        $this->boot(['retry_after' => 2]);
        $this->startWaiting(...static::WORK);
        $this->start(...static::WORK);
        Deed::dispatch('long', 6);
        $this->awaitLine('/^end long/');
        Wait::until(fn (): bool => $this->queue()->size() === 0, 10, 'an empty queue');
        $this->assertSame(1, $this->lines('/^begin long/'));
    }

    public function testAJobOfAKilledWorkerIsTakenOverAfterItsShortLease(): void
    {
        $this->boot(['retry_after' => 1]);
        $first = $this->startWaiting(...static::WORK);
        Deed::dispatch('orphan', 3);
        $this->awaitLine('/^begin orphan 1/');
        $first->kill();
        $killedAt = microtime(true);
        $this->start(...static::WORK);
        $this->awaitLine('/^begin orphan 2/');
        $this->assertLessThan(20, Machine::lasted($killedAt));
        $this->awaitLine('/^end orphan 2/');
        $this->assertSame(2, $this->lines('/^begin orphan/'));
    }

    public function testAWorkerThatWaitsEndsAtOnceOnSigterm(): void
    {
        $this->boot(['block_for' => 60]);
        $worker = $this->startWaiting(...static::WORK);
        $asked = microtime(true);
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode());
        $this->assertLessThan(20, Machine::lasted($asked));
    }

    public function testAWorkerThatIsBusyFinishesItsJobOnSigterm(): void
    {
        $worker = $this->startWaiting(...static::WORK);
        Deed::dispatch('busy', 1);
        Deed::dispatch('next');
        $this->awaitLine('/^begin busy/');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode());
        $this->assertSame([1, 0], [$this->lines('/^end busy/'), $this->lines('/^begin next/')]);
        $this->assertSame(1, $this->queue()->size());
    }

    public function testOfTwoWorkersOneGetsTheJob(): void
    {
        $this->start(...static::WORK);
        $this->start(...static::WORK);
        $this->awaitWaiter(count: 2);
        Deed::dispatch('single', 0.3);
        $this->awaitLine('/^end single/');
        Wait::until(fn (): bool => $this->queue()->size() === 0, 10, 'an empty queue');
        $this->assertSame(1, $this->lines('/^begin single/'));
    }

    public function testAWorkerEndsAfterSoManyJobs(): void
    {
        foreach ([1, 2, 3] as $n) {
            Deed::dispatch("job $n");
        }
        $worker = $this->start(...static::WORK, ...['--max-jobs=2']);
        $this->assertSame(0, $worker->exitCode(20));
        $this->assertSame(2, $this->lines('/^end job/'));
        $this->assertSame(1, $this->queue()->size());
    }

    public function testAWorkerEndsWhenItsQueuesAreEmptyAndDoesNotSleepBefore(): void
    {
        Deed::dispatch('only');
        $worker = $this->start(...static::WORK, ...['--stop-when-empty', '--sleep=30']);
        $this->assertSame(0, $worker->exitCode(20));
        $this->assertSame(1, $this->lines('/^end only/'));
    }

    public function testAWorkerEndsInTimeAlthoughItWaits(): void
    {
        $this->boot(['block_for' => 60]);
        $worker = $this->start(...static::WORK, ...['--max-time=1']);
        $this->assertSame(0, $worker->exitCode(20));
    }

    public function testAJobThatFailsIsTriedAgainAndThenRecordedAsFailed(): void
    {
        Deed::dispatch('hopeless', 0, 'throw');
        $this->start(...static::WORK);
        $this->awaitLine('/^failed hopeless hopeless went wrong/');
        Wait::until(fn (): bool => $this->app['db']->table('failed_jobs')->count() === 1, 10, 'the failed job');
        $this->assertSame(3, $this->lines('/^begin hopeless/'));
        Wait::until(fn (): bool => $this->queue()->size() === 0, 10, 'an empty queue');

        $uuid = $this->app['db']->table('failed_jobs')->value('uuid');
        $this->artisan('queue:retry', ['id' => [$uuid]]);
        Wait::until(fn (): bool => $this->lines('/^begin hopeless 1/') === 2, 20, 'the retry of the failed job');
    }

    public function testALostConnectionToRedisDoesNotEndAWorker(): void
    {
        $this->boot(['retry_after' => 30]);
        Deed::dispatch('unlucky', 0, 'lose the connection');
        $worker = $this->start(...static::WORK);
        $this->awaitLine('/^failed unlucky/');
        Deed::dispatch('after');
        $this->awaitLine('/^end after/');
        $this->assertTrue($worker->isRunning());
    }

    public function testAJobMayGiveItselfBack(): void
    {
        Deed::dispatch('polite', 0, 'release');
        Deed::dispatch('patient', 0, 'release uncounted');
        $this->start(...static::WORK);
        $this->awaitLine('/^end polite 2/');
        Wait::until(fn (): bool => $this->lines('/^end patient 1/') === 3, 20, 'three runs that are one attempt');
    }

    public function testAJobThatExceedsItsTimeIsTriedAgainWithoutWaitingForItsLease(): void
    {
        $this->boot(['retry_after' => 600]);
        $job = new Deed('endless', 30);
        $job->timeout = 1;
        $job->tries = 2;
        dispatch($job);
        $this->supervise();
        $this->awaitLine('/^begin endless 1/');
        $this->awaitLine('/^begin endless 2/');
        $this->awaitLine('/^failed endless/');
        Wait::until(fn (): bool => $this->queue()->size() === 0, 10, 'an empty queue');
        $this->assertSame(0, $this->lines('/^end endless/'));
    }

    public function testAJobMayFailWhenItExceedsItsTime(): void
    {
        $job = new Deed('endless', 30);
        $job->timeout = 1;
        $job->failOnTimeout = true;
        dispatch($job);
        $this->start(...static::WORK);
        $this->awaitLine('/^failed endless/');
        $this->assertSame(1, $this->lines('/^begin endless/'));
        Wait::until(fn (): bool => $this->queue()->size() === 0, 10, 'an empty queue');
    }

    public function testAUniqueJobIsQueuedOnceUntilItIsDone(): void
    {
        UniqueDeed::dispatch('unique');
        UniqueDeed::dispatch('unique');
        $this->assertSame(1, $this->queue()->size());
        $this->start(...static::WORK);
        $this->awaitLine('/^end unique/');
        Wait::until(fn (): bool => $this->queue()->size() === 0, 10, 'an empty queue');
        UniqueDeed::dispatch('unique');
        Wait::until(fn (): bool => $this->lines('/^end unique/') === 2, 20, 'the second run');
    }

    public function testADebouncedJobRunsOnceWithTheNewestPayload(): void
    {
        foreach (['d', 'de', 'deb'] as $word) {
            Deed::dispatch($word)->delay(1)->identifiedBy('search', onDuplicate: OnDuplicate::Replace);
        }
        $this->assertSame(1, $this->queue()->size());
        $this->start(...static::WORK);
        $this->awaitLine('/^end deb /');
        $this->assertSame(1, $this->lines('/^begin/'));
    }

    public function testOfJobsThatLaravelDebouncesTheLastOneRuns(): void
    {
        foreach (['d', 'de', 'deb'] as $word) {
            DebouncedDeed::dispatch($word);
        }
        $this->start(...static::WORK);
        $this->awaitLine('/^end deb /');
        Wait::until(fn (): bool => $this->queue()->size() === 0, 10, 'an empty queue');
        // Versions before 13.6 know nothing of debouncing, and run them all.
        $this->assertSame(class_exists(DebounceFor::class) ? 1 : 3, $this->lines('/^begin/'));
    }

    public function testAChainRunsInOrder(): void
    {
        Deed::withChain([new Deed('second'), new Deed('third')])->dispatch('first');
        $this->start(...static::WORK);
        $this->awaitLine('/^end third/');
        $names = array_map(static fn (string $line): string => explode(' ', $line)[1], array_values(preg_grep('/^end/', Journal::lines())));
        $this->assertSame(['first', 'second', 'third'], $names);
    }

    public function testABatchEnds(): void
    {
        $batch = $this->app->make(\Illuminate\Contracts\Bus\Dispatcher::class)->batch([new Deed('a'), new Deed('b')])->dispatch();
        $this->start(...static::WORK);
        Wait::until(static fn (): bool => $batch->fresh()->finished(), 20, 'the end of the batch');
        $this->assertSame(2, $this->lines('/^end/'));
    }

    public function testQueueRestartEndsAWorker(): void
    {
        $this->boot(['block_for' => 1]);
        $worker = $this->startWaiting(...static::WORK);
        $this->artisan('queue:restart');
        $this->assertSame(0, $worker->exitCode(20));
    }

    /** Workers for a job that exceeds its time limit. */
    abstract protected function supervise(): void;
}
