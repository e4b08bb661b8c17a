<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Database\Schema;
use DelayQueue\DuplicateJobException;
use DelayQueue\Laravel\Database\LaravelConnection;
use DelayQueue\Laravel\Events\DuplicateKept;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\Laravel\Job;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use DelayQueue\Tests\Laravel\Support\TestTransaction;
use DelayQueue\Tests\Laravel\Support\UniqueDeed;
use Illuminate\Bus\BatchRepository;
use Illuminate\Contracts\Bus\Dispatcher;
use Illuminate\Foundation\Testing\DatabaseTransactions;
use Illuminate\Foundation\Testing\RefreshDatabase;
use Illuminate\Queue\Events\JobQueued;
use InvalidArgumentException;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;

/** Laravel's ways of dispatching, where the connection has an outbox. */
final class OutboxTest extends OutboxTestCase
{
    protected function setUp(): void
    {
        parent::setUp();
        $this->bootOutbox();
    }

    public function testARowKeepsAllThatAJobHas(): void
    {
        $this->shop()->transaction(function (): void {
            Deed::dispatch('one')->onQueue('a b')->delay(now()->addMinutes(15))->identifiedBy('order-1')->withPriority(7)->leasedFor(5)->expiringAfter('1h');
            $this->assertSame(1, $this->rows());
        });
        $this->assertSame(1, $this->rows(), 'the relay deletes it');
        $job = $this->queue()->find('order-1', 'a b');
        $this->assertSame([State::Delayed, 7, 5.0], [$job->state, $job->priority, $job->ttr]);
        $this->assertEqualsWithDelta(microtime(true) + 900, $job->dueAt, 2);
        $this->assertEqualsWithDelta($job->dueAt + 3600, $job->expiresAt, 0.01);
        $this->travel(901);
        $this->queue()->pop('a b')->fire();
        $this->assertSame(1, $this->lines('/^end one 1 /'));
    }

    public function testADelayThatHasPassedAsksNothingOfRedis(): void
    {
        $this->bootWithoutRedis();
        $this->queue()->later(now()->subMinute(), new Deed('late'));
        $this->shop()->transaction(fn () => $this->queue()->later(-5, new Deed('later')));
        $this->bootWithOutbox();
        $this->relay();
        $this->assertSame(2, $this->queue()->pendingSize());
    }

    public function testTheIdIsKnownAtOnceAndItsEventIsRaised(): void
    {
        $queued = $this->listenFor(JobQueued::class);
        $this->shop()->transaction(function () use ($queued): void {
            $id = $this->queue()->push(new Deed('one'));
            $this->queue()->bulk([new Deed('two'), (new Deed('three'))->delay(60)]);
            $this->assertSame([$id, 3], [$queued[0]->id, count($queued)]);
        });
        $this->assertNotNull($this->queue()->find($queued[2]->id));
        $this->assertSame(['one', 'two', 'three'], $this->names());
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

    public function testOutsideOfATransactionADuplicateIsToldAsEver(): void
    {
        $kept = $this->listenFor(DuplicateKept::class);
        Deed::dispatch('one')->identifiedBy('same');
        Deed::dispatch('two')->identifiedBy('same', OnDuplicate::Keep);
        $this->assertCount(1, $kept);
        Deed::dispatch('three')->identifiedBy('same', OnDuplicate::Replace);
        $this->assertSame([['three'], 0], [$this->names(), $this->rows()]);
        $this->queue()->pop();
        foreach ([OnDuplicate::Fail, OnDuplicate::Replace] as $onDuplicate) {
            try {
                Deed::dispatch('four')->identifiedBy('same', $onDuplicate);
                $this->fail('no exception');
            } catch (DuplicateJobException) {
            }
        }
        $this->assertSame(1, $this->queue()->size());
    }

    public function testInATransactionTheJobThatIsThereStaysAndReplaceReplacesIt(): void
    {
        Deed::dispatch('one')->identifiedBy('same')->delay(60);
        $this->shop()->transaction(function (): void {
            Deed::dispatch('two')->identifiedBy('same');
            Deed::dispatch('three')->identifiedBy('same', OnDuplicate::Keep);
        });
        $this->assertSame(['one'], $this->names());
        $this->shop()->transaction(function (): void {
            Deed::dispatch('four')->identifiedBy('same', OnDuplicate::Replace)->delay(60);
        });
        $this->assertSame(['four'], $this->names());
    }

    public function testAJobWhoseIdStaysTakenIsPushedAfterTheCommitFromMemory(): void
    {
        $dispatch = static function (string $name): void {
            Deed::dispatch($name)->identifiedBy('once', OnDuplicate::Keep, unique: '10m');
        };
        $this->shop()->transaction(function () use ($dispatch): void {
            $dispatch('one');
            $this->queue()->bulk([(new Deed('two'))->identifiedBy('more', unique: 60), new Deed('three')]);
            $this->assertSame([1, 0], [$this->rows(), $this->arrived()]);
        });
        $this->assertSame(3, $this->arrived());
        while ($job = $this->queue()->pop()) {
            $job->delete();
        }
        $dispatch('four');
        $this->assertSame(0, $this->queue()->size());
        try {
            $this->shop()->transaction(function () use ($dispatch): void {
                Deed::dispatch('five')->identifiedBy('never', unique: '10m');
                throw new RuntimeException('no stock');
            });
        } catch (RuntimeException) {
        }
        $this->assertNull($this->queue()->find('never'));
    }

    public function testARetryTakesThePlaceOfTheJobThatLiesBuried(): void
    {
        $this->bootWithOutbox(['bury_failed' => true]);
        foreach ([false, true] as $isInTransaction) {
            $id = $this->queue()->push(new Deed('hopeless'));
            $job = $this->queue()->pop();
            $job->fail(new RuntimeException('no luck'));
            $retry = fn (): string => $this->queue()->pushRaw($job->getRawBody());
            $this->assertSame($id, $isInTransaction ? $this->shop()->transaction($retry) : $retry());
            $this->assertSame([1, 0], [$this->queue()->pendingSize(), $this->delayQueue()->count(State::Buried)]);
            $this->queue()->pop()->delete();
        }
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

    public function testARollbackForgetsWhatWasCancelled(): void
    {
        Deed::dispatch('one')->identifiedBy('same')->delay(60);
        $cancel = function (): void {
            $this->shop()->beginTransaction();
            DelayQueue::cancel('same', 'default');
            $this->shop()->rollBack();
        };
        $push = static function (): void {
            Deed::dispatch('two')->identifiedBy('same', OnDuplicate::Keep)->delay(60);
        };
        $cancel();
        $this->shop()->transaction($push);
        $this->assertSame(['one'], $this->names());
        $cancel();
        $push();
        $this->assertSame(['one'], $this->names());
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

    public function testARolledBackJobReleasesItsUniqueLock(): void
    {
        foreach ([false, true] as $afterCommit) {
            $this->shop()->beginTransaction();
            $afterCommit ? UniqueDeed::dispatch('unique')->afterCommit() : UniqueDeed::dispatch('unique');
            $this->queue()->bulk([new Deed('other')]);
            $this->shop()->rollBack();
        }
        $this->shop()->transaction(function (): void {
            UniqueDeed::dispatch('unique');
        });
        UniqueDeed::dispatch('unique');
        $this->assertSame(['unique'], $this->names());
        $this->queue()->pop()->fire();
        UniqueDeed::dispatch('unique');
        $this->assertSame(['unique'], $this->names());
    }

    public function testACancelledJobReleasesItsUniqueLockAtTheCommit(): void
    {
        UniqueDeed::dispatch('unique')->delay(60)->identifiedBy('first');
        $this->shop()->transaction(function (): void {
            DelayQueue::cancel('first');
            UniqueDeed::dispatch('unique')->identifiedBy('too soon');
        });
        $this->assertSame(0, $this->arrived());
        UniqueDeed::dispatch('unique')->identifiedBy('second');
        $this->assertNotNull($this->queue()->find('second'));
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

    public function testTheOutboxMayBeThatOfTheDefaultConnection(): void
    {
        $this->bootWithOutbox(['outbox' => true]);
        $this->app['config']['database.default'] = 'shop';
        $this->shop()->transaction(function (): void {
            Deed::dispatch('one');
            $this->assertSame([1, 0], [$this->rows(), $this->arrived()]);
        });
        $this->assertSame(1, $this->arrived());
    }

    public function testAnOutboxOfAConnectionThatIsNotThereIsNamed(): void
    {
        $this->bootWithOutbox(['outbox' => 'nowhere']);
        $this->expectException(InvalidArgumentException::class);
        $this->expectExceptionMessage('nowhere');
        $this->queue()->push(new Deed('one'));
    }
}
