<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\DuplicateJobException;
use DelayQueue\Internal\StartBy;
use DelayQueue\Laravel\Events\DuplicateKept;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\OutboxTestCase;
use DelayQueue\Tests\Laravel\Support\UniqueDeed;
use Illuminate\Queue\Events\JobQueued;
use InvalidArgumentException;
use RuntimeException;

/** Options, ids and unique locks of jobs that Laravel dispatches where the connection has an outbox. */
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
        $this->assertEqualsWithDelta(microtime(true) + 900, $job->dueAt, 10);
        $this->assertSame($job->dueAt + 3600, StartBy::at($job->headers, $job->dueAt));
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
