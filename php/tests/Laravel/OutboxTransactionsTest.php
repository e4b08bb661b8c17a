<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Database\Schema;
use DelayQueue\Laravel\Database\LaravelConnection;
use DelayQueue\Laravel\Job;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use DelayQueue\Tests\Laravel\Support\TestTransaction;
use Illuminate\Bus\BatchRepository;
use Illuminate\Contracts\Bus\Dispatcher;
use Illuminate\Foundation\Testing\DatabaseTransactions;
use Illuminate\Foundation\Testing\RefreshDatabase;
use PHPUnit\Framework\Attributes\DataProvider;

/** Which transactions hold jobs in the outbox, and when they let go. */
final class OutboxTransactionsTest extends OutboxTestCase
{
    protected function setUp(): void
    {
        parent::setUp();
        $this->bootOutbox();
    }

    public function testAJobThatIsToWaitForTheCommitIsARow(): void
    {
        $this->bootWithOutbox(['after_commit' => true]);
        $this->shop()->transaction(function (): void {
            $this->assertIsString($this->queue()->push(new Deed('one')));
            $job = new Deed('two');
            $job->afterCommit = true;
            dispatch($job);
            $this->queue()->bulk([new Deed('three')]);
            $this->assertSame([3, 0], [$this->rows(), $this->arrived()]);
        });
        $this->assertSame(['one', 'two', 'three'], $this->names());
    }

    public function testAJobThatIsNotToWaitForTheCommitIsPushedAtOnce(): void
    {
        $this->bootWithOutbox(['after_commit' => true]);
        $this->shop()->beginTransaction();
        Deed::dispatch('one')->beforeCommit();
        Deed::dispatch('two')->delay(60)->beforeCommit();
        $this->queue()->bulk([new Deed('row'), (new Deed('three'))->delay(90)->beforeCommit()]);
        $this->assertSame([1, ['one', 'two', 'three']], [$this->rows(), $this->names()]);
        $this->shop()->rollBack();
        $this->relay();
        $this->assertSame(3, $this->arrived());
    }

    public function testABatchIsRowsOfItsOwnTransaction(): void
    {
        $this->bootWithOutbox(['outbox' => 'sqlite']);
        Schema::install(new LaravelConnection($this->app['db'], 'sqlite'));
        $this->app['db']->connection('sqlite')->transaction(function (): void {
            $this->app->make(Dispatcher::class)->batch([new Deed('a'), new Deed('b')])->dispatch();
            $this->assertSame(0, $this->arrived());
        });
        $batch = $this->app->make(BatchRepository::class)->get()[0];
        $this->assertSame([2, 2], [$batch->pendingJobs, $this->arrived()]);
        while ($job = $this->queue()->pop()) {
            $job->fire();
        }
        $this->assertTrue($batch->fresh()->finished());
    }

    public function testAJobThatIsToWaitForAllCommitsWaitsForThatOfAnotherConnectionToo(): void
    {
        $this->bootWithOutbox(['after_commit' => true]);
        $other = $this->app['db']->connection('other');
        $this->shop()->beginTransaction();
        $other->beginTransaction();
        $this->queue()->push(new Deed('one'));
        $this->assertSame(0, $this->rows());
        $other->commit();
        $this->assertSame([1, 0], [$this->rows(), $this->arrived()]);
        $this->shop()->commit();
        $this->assertSame(['one'], $this->names());

        $this->shop()->beginTransaction();
        $other->beginTransaction();
        $this->queue()->push(new Deed('never'));
        $other->rollBack();
        $this->shop()->commit();
        $this->assertSame(['one'], $this->names());
    }

    public function testTheCommitOfAnotherConnectionPushesNothing(): void
    {
        $other = $this->app['db']->connection('other');
        $this->shop()->beginTransaction();
        $other->beginTransaction();
        Deed::dispatch('one');
        $other->commit();
        $this->assertSame(0, $this->arrived());
        $this->shop()->commit();
        $this->assertSame(1, $this->arrived());

        $this->shop()->beginTransaction();
        $other->beginTransaction();
        Deed::dispatch('never');
        $other->commit();
        $this->shop()->rollBack();
        $this->relay();
        $this->assertSame(1, $this->arrived());
    }

    public function testATransactionOfAnotherConnectionAloneHoldsNoJobUp(): void
    {
        $other = $this->app['db']->connection('other');
        $other->beginTransaction();
        Deed::dispatch('one');
        $this->queue()->bulk([new Deed('two')]);
        $this->assertSame(2, $this->arrived());
        $other->rollBack();
    }

    public function testATransactionOfThePdoItselfHoldsItsJobs(): void
    {
        $this->shop()->getPdo()->beginTransaction();
        Deed::dispatch('one');
        $this->queue()->bulk([new Deed('two')]);
        $this->assertSame([2, 0], [$this->rows(), $this->arrived()]);
        $this->shop()->getPdo()->commit();
        $this->relay();
        $this->assertSame(2, $this->arrived());
    }

    public function testWithoutCallBacksTheRelayBringsTheJob(): void
    {
        $this->shop()->unsetTransactionManager();
        $this->shop()->transaction(fn () => $this->queue()->push(new Deed('one')));
        $this->assertSame([1, 0], [$this->rows(), $this->arrived()]);
        $this->relay();
        $this->assertSame([0, 1], [$this->rows(), $this->arrived()]);
    }

    public function testAJobThatIsDispatchedByAHandlersTransactionIsARow(): void
    {
        $work = function (Job $job): void {
            $this->shop()->transaction(function (): void {
                Deed::dispatch('inner');
                $this->assertSame([1, 1], [$this->rows(), $this->queue()->size()]);
            });
            $job->delete();
        };
        $this->app->bind('handler', static fn (): object => new class ($work) {
            public function __construct(private readonly \Closure $work)
            {
            }

            public function fire(Job $job): void
            {
                ($this->work)($job);
            }
        });
        $this->queue()->push('handler');
        $this->artisan('queue:work', ['--once' => true]);
        $this->assertSame(['inner'], $this->names());
    }

    public function testARollbackToASavepointForgetsNothing(): void
    {
        $this->shop()->transaction(function (): void {
            Deed::dispatch('one');
            $this->shop()->beginTransaction();
            Deed::dispatch('never');
            $this->shop()->rollBack();
            Deed::dispatch('two');
        });
        $this->assertSame(['one', 'two'], $this->names());
    }

    public function testACallBackOfTheCommitThatDispatchesDelaysNoRow(): void
    {
        $this->shop()->transaction(function (): void {
            $this->app['db.transactions']->addCallback(static function (): void {
                Deed::dispatch('late');
            });
            Deed::dispatch('row');
        });
        $this->assertEqualsCanonicalizing(['late', 'row'], $this->names());
    }

    /** @dataProvider traits */
    #[DataProvider('traits')]
    public function testInsideTheTransactionOfATestJobsArriveAtTheApplicationsCommit(string $trait): void
    {
        $this->artisan('vendor:publish', ['--tag' => 'delayqueue-migrations']);
        if ($trait === RefreshDatabase::class) {
            $this->app['config']['database.default'] = 'shop';
        }
        $manager = $this->app['db.transactions'];
        $test = TestTransaction::begin($this->app, $trait);
        $this->shop()->transaction(function (): void {
            Deed::dispatch('inside');
            $this->assertSame(0, $this->arrived());
        });
        $arrived = [$this->arrived()];
        Deed::dispatch('outside');
        $this->queue()->bulk([new Deed('many')]);
        $this->shop()->beginTransaction();
        Deed::dispatch('never');
        $this->shop()->rollBack();
        $arrived[] = $this->arrived();
        $this->shop()->transaction(function (): void {
            $this->shop()->transaction(fn () => $this->queue()->push(new Deed('nested')));
        });
        $arrived[] = $this->arrived();
        $test->end();
        $this->assertSame(match (true) {
            method_exists($manager, 'getPendingTransactions') => [1, 3, 4],
            method_exists($manager, 'callbackApplicableTransactions') => [1, 3, 3], // Laravel 9.17 and newer, which does not call back after nested ones
            default => [0, 0, 0],
        }, $arrived);
        $this->relay();
        $this->assertSame([0, end($arrived)], [$this->rows(), $this->arrived()]);
    }

    /** @return iterable<string, array{class-string}> */
    public static function traits(): iterable
    {
        yield 'RefreshDatabase' => [RefreshDatabase::class];
        yield 'DatabaseTransactions' => [DatabaseTransactions::class];
    }

    public function testWithoutAnOutboxATransactionHoldsNothing(): void
    {
        foreach ([false, '', null] as $none) {
            $this->bootWithOutbox(['outbox' => $none]);
            $this->assertNull($this->queue()->outbox());
        }
        $this->shop()->transaction(function (): void {
            Deed::dispatch('one');
            $this->assertSame([0, 1], [$this->rows(), $this->arrived()]);
        });
    }
}
