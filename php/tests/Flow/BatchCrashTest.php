<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\Flow\Batch;
use DelayQueue\Flow\BatchClosed;
use DelayQueue\Flow\BatchLock;
use DelayQueue\Flow\BatchMembers;
use DelayQueue\Flow\BatchStage;
use DelayQueue\Flow\BatchStore;
use ValueError;

/** A process dies between two requests of a batch: what it has done by then is done here, and the rest is not. */
final class BatchCrashTest extends BatchCase
{
    public function testAStartThatDiedAmongTheMarkersIsCompletedByTheNext(): void
    {
        $queue = $this->delayQueue('imports');
        $store = new BatchStore($queue, 'import-7');
        $members = self::defined($store, 3);
        $this->assertSame(0, Batch::of($queue, 'import-7')->check());
        $this->assertCount(0, $queue->sibling('reports'), 'there is no member yet');
        $store->home->push(...$store->marker('row-2', 'imports', ''));
        $this->assertSame([3, 0, 3, 0.0], self::figures(Batch::of($queue, 'import-7')));

        Batch::start($queue, 'import-7', self::members(3), self::THEN);

        $this->assertSame(3, $members->count());
        $this->assertSame(['row-1', 'row-2', 'row-3'], self::served($queue));
        $this->assertCount(1, $queue->sibling('reports'));
    }

    public function testAStartThatDiedBehindTheLastMemberNeedsNoOther(): void
    {
        $queue = $this->delayQueue('imports');
        $store = new BatchStore($queue, 'import-7');
        $members = self::defined($store, 2);
        $store->hold(static function (BatchLock $lock) use ($members): void {
            $members->mark('');
            $lock->batch->stage = BatchStage::Members;
            $lock->save();
            $members->push(null, false, $lock);
        });
        self::served($queue);

        $this->assertCount(1, $queue->sibling('reports'));
        $this->assertCount(0, $store->home);
    }

    public function testABatchThatIsClosedTakesNoMoreAlsoBeforeThenIsPushed(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1), self::THEN);
        $store = new BatchStore($queue, 'import-7');
        $store->unmark('row-1');
        $store->hold(static function (BatchLock $lock): void {
            $lock->batch->stage = BatchStage::Closed;
            $lock->save();
        });

        try {
            $batch->add(self::members(1, 'late'));
            $this->fail('it is closed');
        } catch (BatchClosed) {
            $this->assertCount(1, $queue, 'no member was added');
        }
        $this->assertSame(0, $batch->cancel(), 'too late');
        $this->assertCount(1, $queue->sibling('reports'), 'and whoever comes next pushes it');
    }

    public function testTheLastMemberIsNoEndWhileAnAddHoldsTheBatch(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1), self::THEN);
        $store = new BatchStore($queue, 'import-7');
        $members = BatchMembers::of(self::members(2, 'more'), $store, 'jobs');
        $store->hold(static function (BatchLock $lock) use ($members, $queue): void {
            $members->mark($members->digest());
            self::served($queue);
        });
        $this->assertCount(0, $queue->sibling('reports'));
        $this->assertSame(2, $batch->progress()->waiting);
        $this->assertSame(['import-7'], $store->hold(static fn (): array => [...Batch::names($queue)]));
    }

    public function testAnAddThatDiedIsCompletedByTheNextAndCheckedByNobody(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1), self::THEN);
        $store = new BatchStore($queue, 'import-7');
        $members = BatchMembers::of(self::members(3, 'more'), $store, 'jobs');
        $store->hold(static function (BatchLock $lock) use ($members): void {
            $lock->batch->adding[$members->digest()] = 3;
            $lock->save();
            $members->mark($members->digest());
        });
        $queue->push(1, id: 'more-1', headers: [Batch::HEADER => 'import-7']);
        $this->assertSame(['row-1', 'more-1'], self::served($queue));
        $this->assertSame(0, $batch->check());
        $this->assertCount(0, $queue->sibling('reports'));

        $this->assertSame(3, $batch->add(self::members(3, 'more')));
        $this->assertSame([4, 2, 2, 0.5], self::figures($batch));
        $this->assertSame(['more-2', 'more-3'], self::served($queue));
        $this->assertCount(1, $queue->sibling('reports'));
    }

    public function testWhatADeadAddHasLeftIsCancelledByName(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1), self::THEN);
        $store = new BatchStore($queue, 'import-7');
        $members = BatchMembers::of(self::members(1, 'more'), $store, 'jobs');
        $store->hold(static function (BatchLock $lock) use ($members): void {
            $lock->batch->adding[$members->digest()] = 1;
            $lock->save();
            $members->mark($members->digest());
        });
        self::served($queue);

        $this->assertSame(1, $batch->cancelMember('more-1'));
        $this->assertCount(1, $queue->sibling('reports'));
    }

    public function testACancelThatDiedIsCompletedByTheNextAndNothingFollows(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(3), self::THEN);
        $store = new BatchStore($queue, 'import-7');
        $store->hold(static function (BatchLock $lock): void {
            $lock->batch->stage = BatchStage::Cancelled;
            $lock->save();
        });
        $this->assertSame(['row-1'], self::served($queue, 1));
        $queue->cancel('row-2');
        $store->unmark('row-2');

        $this->assertSame(1, $batch->cancel());
        $this->assertSame([0, 0, 0], [count($queue), count($store->home), count($queue->sibling('reports'))]);
        $this->assertTrue($batch->wait(0));
        $this->expectException(ValueError::class);
        $this->expectExceptionMessage('was cancelled');
        Batch::start($queue, 'import-7', self::members(3), self::THEN);
    }
}
