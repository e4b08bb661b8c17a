<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\Backoff;
use DelayQueue\GroupLimits;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;
use DelayQueue\State;

/** Ordered groups: one job at a time, and one that comes back is the first until it has ended. */
trait OrderedGroupRules
{
    /** Its group a is ordered; failed jobs come back after ten seconds. */
    private function ordered(string $words, string $name = 'rules'): QueueInterface
    {
        $queue = $this->queue($name, ['backoff' => Backoff::fixed(10)]);
        $queue->limitGroups('a', new GroupLimits(ordered: true));
        self::fill($queue, $words);

        return $queue;
    }

    public function testAnOrderedGroupGivesOneJobAtATime(): void
    {
        $queue = $this->ordered('a1 a2 a3 b1 b2');

        $this->assertSame(['a1', 'b1', 'b2'], self::batch($queue, 10));
        $this->assertNull($queue->reserve());
        self::$hands['a1']->ack();
        $this->assertSame(['a2', 'a3'], self::served($queue));
    }

    public function testARetryHoldsUpItsGroupUntilItHasEnded(): void
    {
        $queue = $this->ordered('a1 a2 b1');
        $queue->reserve()?->fail('not yet');
        $queue->push('urgent', priority: 1, group: 'a');

        $this->assertSame([State::Delayed, 'not yet'], [$queue->peek('a1')?->state, $queue->peek('a1')?->lastError]);
        $this->assertEqualsWithDelta($queue->now() + 10, $queue->peek('a1')->dueAt, 5, 'until then');
        $this->assertSame(['b1'], self::served($queue));
        $this->assertSame([2, 2, false], [$queue->stats()->ready, $queue->stats()->blocked, $queue->wait(0)]);
        $this->assertEqualsWithDelta($queue->peek('a1')->dueAt, $queue->groupStats('a')->nextTurnAt, 0.001);
        $this->travel(11);
        $this->assertSame([3, 0], [$queue->stats()->ready, $queue->stats()->blocked]);
        $job = $queue->reserve();
        $this->assertSame(['a1', 2, null], [$job?->id, $job?->attempts, $queue->reserve()]);
        $job->ack();
        $this->assertSame(['urgent', 'a2'], self::served($queue));
    }

    public function testEachReturnKeepsTheFirstPlace(): void
    {
        $returns = [
            'release' => static fn ($job) => $job->release(),
            'release-later' => static fn ($job) => $job->release(30),
            'release-less-urgent' => static fn ($job) => $job->release(0, 4000),
            'release-uncounted' => static fn ($job) => $job->release(20, countAttempt: false),
            'fail' => static fn ($job) => $job->fail(),
            'expire' => fn () => $this->travel(61),
        ];
        foreach ($returns as $name => $return) {
            $queue = $this->ordered('a1 a2', $name);
            $queue->push('urgent', priority: 1, id: 'urgent', group: 'a');
            $job = $queue->reserve();
            $this->assertSame('urgent', $job?->id, $name);
            $return($job);
            $queue->push('more urgent', priority: 0, group: 'a');
            $this->travel(31);
            $this->assertSame(['urgent', 'more urgent', 'a1', 'a2'], self::served($queue), $name);
        }
    }

    public function testAJobThatExpiredIsServedAgainBeforeTheRest(): void
    {
        $queue = $this->ordered('a1 a2');
        $queue->reserve();
        $this->travel(61);

        $this->assertSame('a1', $queue->reserve()?->id);
        $this->assertNull($queue->reserve());
    }

    public function testWithoutOrderARetryLetsTheOthersPass(): void
    {
        $queue = $this->ordered('b1 b2');
        $queue->limitGroups('b', new GroupLimits(concurrency: 1));
        $queue->reserve()?->fail();

        $this->assertSame(['b2'], self::served($queue));
        $this->travel(11);
        $this->assertSame(['b1'], self::served($queue));
    }

    public function testABuriedJobHoldsUpNobodyAndIsTheLastWhenItIsKicked(): void
    {
        $queue = $this->ordered('a1 a2 a3');
        $queue->reserve()?->bury();
        $this->assertSame('a2', $queue->reserve()?->id);
        $queue->kickJob('a1');
        $this->assertNull($queue->reserve());
        $queue->cancel('a2');
        $this->assertSame(['a3', 'a1'], self::served($queue));
    }

    public function testAJobWithoutAnotherAttemptHoldsUpNobody(): void
    {
        $queue = $this->ordered('a1');
        $queue->push('last', id: 'last', priority: 1, maxAttempts: 1, group: 'a');
        $queue->reserve()?->fail();

        $this->assertSame([State::Buried, ['a1']], [$queue->peek('last')?->state, self::served($queue)]);
    }

    public function testWhoRemovesTheFirstOpensItsGroup(): void
    {
        $ways = [
            'cancel' => static fn (QueueInterface $queue) => $queue->cancel('a1'),
            'purge' => static fn (QueueInterface $queue) => $queue->purge(State::Delayed),
            'replace' => static fn (QueueInterface $queue) => $queue->push(1, delay: 90, id: 'a1', onDuplicate: OnDuplicate::Replace, group: 'b'),
            'replace-in-the-group' => static fn (QueueInterface $queue) => $queue->push(1, delay: 90, id: 'a1', onDuplicate: OnDuplicate::Replace, group: 'a'),
            'reschedule' => static fn (QueueInterface $queue) => $queue->reschedule('a1', 90),
        ];
        foreach ($ways as $name => $remove) {
            $queue = $this->ordered('a1', $name);
            $queue->reserve()?->fail();
            self::fill($queue, 'a2 a3');
            $this->assertNull($queue->reserve(), $name);
            $this->assertGreaterThan($queue->now(), $queue->groupStats('a')->nextTurnAt, $name);
            $this->assertNotEmpty($remove($queue), $name);
            $this->assertLessThanOrEqual($queue->now(), $queue->groupStats('a')->nextTurnAt, $name);
            $this->assertSame(['a2', 'a3'], self::served($queue), $name);
        }
    }

    public function testAKickedFirstJobIsStillTheFirst(): void
    {
        $queue = $this->ordered('a1 a2');
        $queue->reserve()?->fail();
        $queue->push('urgent', priority: 1, group: 'a');
        $this->assertTrue($queue->kickJob('a1'));

        $this->assertSame(['a1', 'urgent', 'a2'], self::served($queue));
    }

    public function testARescheduledFirstJobLosesItsPlace(): void
    {
        $queue = $this->ordered('a1 a2 a3');
        $queue->reserve()?->fail();
        $this->assertTrue($queue->reschedule('a1', 5));
        $this->assertSame('a2', $queue->reserve()?->id);
        $queue->cancel('a2');
        $this->travel(6);

        $this->assertSame(['a3', 'a1'], self::served($queue), 'by its new time');
    }

    public function testTheEndOfARetryOpensNoGroupThatIsClosed(): void
    {
        $queue = $this->ordered('a1 a2');
        $queue->reserve()?->fail();
        $queue->rateLimit('1h', 'a');
        $queue->cancel('a1');
        $this->assertNull($queue->reserve());
        $this->travel('61m');
        $this->assertSame(['a2'], self::served($queue));
    }

    public function testAFirstJobThatIsTakenByItsIdIsTheFirstAgain(): void
    {
        $queue = $this->ordered('a1 a2');
        $queue->reserve()?->fail();
        $job = $queue->reserveJob('a1');
        $this->assertNull($queue->reserve());
        $job->release(5);
        $this->assertNull($queue->reserve());
        $this->travel(6);
        $this->assertSame(['a1', 'a2'], self::served($queue));
    }

    public function testTheOthersOfAnOrderedGroupAreBlockedByEachJobThatCameBack(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 a3');
        $running = $queue->reserveMany(2);
        $queue->limitGroups('a', new GroupLimits(ordered: true));
        $running[0]->release();
        $running[1]->release(60);

        $this->assertSame([2, 1], [$queue->stats()->ready, $queue->stats()->blocked], 'the first one is due, the second one is not, and the third one waits for it');
    }

    public function testAJobThatLeavesItsOrderedGroupForAnotherOpensTheFirstAndEntersTheSecondAtOneMoment(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(ordered: true));
        self::fill($queue, 'a1 a2');
        $queue->reserve()->release(60);
        $this->assertNull($queue->reserve());
        $queue->push('a1', id: 'a1', onDuplicate: OnDuplicate::Replace, group: 'z');

        $this->assertSame(['a2', 'a1'], self::served($queue), 'so the names decide');
    }
}
