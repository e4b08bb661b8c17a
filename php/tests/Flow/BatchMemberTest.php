<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\Bury;
use DelayQueue\Flow\Batch;
use DelayQueue\Flow\BatchClosed;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\State;

/** Members that are cancelled and added. */
final class BatchMemberTest extends BatchCase
{
    public function testACancelledMemberCountsAsDone(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(3), then: self::THEN);
        $queue->drain(new Follow(fn () => throw new Bury()), 2);

        $this->assertSame(2, $batch->cancelMember('row-1', 'row-2', 'nobody'));
        $this->assertSame(0, $batch->cancelMember('row-1'));
        $this->assertCount(1, $queue);
        $this->assertSame(1, $batch->cancelMember('row-3'));
        $this->assertCount(0, $queue);
        $this->assertCount(1, $queue->sibling('reports'));
    }

    public function testAJobThatHasTakenTheIdOfAMemberIsLeftAlone(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(2), then: self::THEN, onFailure: self::ALARM);
        $queue->cancel('row-1', 'row-2');
        $queue->push('other', id: 'row-1', priority: 1);
        $queue->push('other', id: 'row-2');
        $queue->drain(fn () => throw new Bury(), 1);

        $this->assertSame(0, $batch->check(), 'they may be members whose headers were replaced');
        $this->assertCount(0, $queue->sibling('alarms'));
        $this->assertSame(1, $batch->cancelMember('row-1'));
        $this->assertSame(0, $batch->cancel(), 'no job of it is left');
        $this->assertSame([State::Buried, State::Ready], [$queue->peek('row-1')->state, $queue->peek('row-2')->state]);
    }

    public function testACancelledBatchLeavesNothingAndNothingFollows(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', [...self::members(250), ...self::members(3, 'mail', 'mails')], then: self::THEN);
        $queue->push('other', id: 'other');
        $running = new Follow(function (JobInterface $job) use ($batch): void {
            $this->assertSame('row-1', $job->id);
            $this->assertSame(253, $batch->cancel());
        });
        $queue->drain($running, 1);

        $this->assertSame(0, $batch->cancel());
        $this->assertNull($batch->progress());
        $this->assertCount(1, $queue);
        foreach (['mails', 'batches', 'reports'] as $name) {
            $this->assertCount(0, $queue->sibling($name), $name);
        }
    }

    public function testAHandlerAddsMembersThatThenWaitsFor(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1), then: self::THEN);
        $queue->drain(new Follow(function (JobInterface $job) use ($batch, $queue): void {
            $this->assertCount(0, $queue->sibling('reports'));
            if ($job->id === 'row-1') {
                $this->assertSame(2, $batch->add([...self::members(1, 'more'), ...self::members(1, 'mail', 'mails')]));
                $this->assertSame([3, 0, 3, 0.0], self::figures($batch));
            }
        }));
        $this->assertSame([3, 2, 1, 2 / 3], self::figures($batch));
        $queue->sibling('mails')->drain(new Follow(fn () => null));

        $this->assertCount(1, $queue->sibling('reports'));
        $this->assertSame(0, $batch->add([]));
        $this->expectException(BatchClosed::class);
        $this->expectExceptionMessage("batch 'import-7' takes no more members: it has ended, or was cancelled");
        $batch->add(self::members(1, 'late'));
    }

    public function testTheSameMembersAreAddedOnceAlsoAfterTheyAreDone(): void
    {
        $queue = $this->delayQueue('imports');
        $batch = Batch::start($queue, 'import-7', self::members(1, 'slow', 'slow'), then: self::THEN);
        $this->assertSame(3, $batch->add(self::members(3)));
        $this->assertSame(1, $batch->add(self::members(4)), 'three are there');
        $queue->drain(new Follow(fn () => null), 2);

        $this->assertSame(0, $batch->add(self::members(4)));
        $this->assertSame(2, $queue->drain(new Follow(fn () => null)), 'the two that were left');
        $this->assertSame([5, 4, 1, 0.8], self::figures($batch));
    }
}
