<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\GroupLimits;

/** Rates of groups and of queues: how many jobs start in some time. */
trait GroupRateRules
{
    public function testARateIsABurstAndThenOneByOne(): void
    {
        $queue = $this->queue(options: ['ttr' => '1d']);
        $queue->limitGroups('a', new GroupLimits(rate: '2/1h'));
        self::fill($queue, 'a1 a2 a3 a4 a5 a6 b1');

        $this->assertSame(['a1', 'b1', 'a2'], self::taken($queue));
        $this->travel('29m');
        $this->assertSame([], self::taken($queue));
        $this->travel('2m');
        $this->assertSame(['a3'], self::taken($queue));
        $this->assertEqualsWithDelta($queue->now() + 1740, $queue->groupStats('a')->nextTurnAt, 10);
        $this->travel('5h');
        $this->assertSame(['a4', 'a5'], self::batch($queue, 10), 'no more than the burst, however long it was quiet');
        $this->assertSame([], self::taken($queue));
    }

    public function testABurstOfOneSpacesTheJobs(): void
    {
        $queue = $this->queue(options: ['ttr' => '1d']);
        $queue->limitGroups(null, new GroupLimits(rate: '60/1h', burst: 1));
        self::fill($queue, 'a1 a2 a3 b1');
        $this->assertSame(['a1', 'b1'], self::batch($queue, 10));
        $this->travel(50);
        $this->assertSame([], self::taken($queue));
        $this->travel(20);
        $this->assertSame(['a2'], self::taken($queue));
    }

    public function testATokenIsTakenWithTheLeaseAndNotGivenBackByAHandler(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(rate: '4/4h'));
        self::fill($queue, 'a1 a2 a3 a4 a5 a6');
        [$released, $failed, $uncounted, $expires] = $queue->reserveMany(4);
        $released->release();
        $failed->fail();
        $uncounted->release(countAttempt: false);
        $this->assertSame([], self::taken($queue));
        $this->travel('30m');
        $this->assertTrue($expires->timeLeft() <= 0 && $queue->reserve() === null);
        $this->travel('31m');
        $this->assertCount(1, self::taken($queue));
    }

    public function testARateOfTheQueueHoldsForAllItsJobs(): void
    {
        $queue = $this->queue(options: ['ttr' => '1d']);
        $queue->limitQueue(rate: '3/3h', burst: 2);
        $queue->push('plain');
        self::fill($queue, 'a1 b1 b2');

        $this->assertSame(['plain', 'a1'], self::batch($queue, 10));
        $this->assertNull($queue->reserve());
        $this->travel('61m');
        $this->assertSame(['b1'], self::served($queue));
        $this->travel('3h');
        $queue->push('urgent', priority: 1);
        $queue->push('more');
        $this->assertSame(['urgent', 'b2'], self::taken($queue));
    }

    public function testAJobThatEndsLateTakesNoPlaceOfTheNext(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(concurrency: 1, rate: '2/10h'));
        $queue->push(1, id: 'late', expires: 5, group: 'a');
        self::fill($queue, 'a1 a2 a3');
        $this->travel(10);

        $this->assertTrue($queue->wait(0));
        $this->assertSame(['a1', 'a2'], self::served($queue));
        $this->assertSame([1, 'expired'], [$queue->stats()->expired, $queue->peek('late')?->lastError]);
    }

    public function testARateThatIsChangedClosesForNoLongerThanItself(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('r', new GroupLimits(rate: '1/1d'));
        self::fill($queue, 'r1 r2');
        $this->assertNotNull($queue->reserve());
        $queue->limitGroups('r', new GroupLimits(rate: '1/30s'));
        $this->assertNull($queue->reserve());
        $this->travel(30);
        $this->assertSame('r2', $queue->reserve()?->id);
    }
}
