<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\GroupLimits;
use DelayQueue\StopReason;

/** Limits of groups and of queues: how many jobs are held at once; and what all limits have in common. */
trait GroupLimitRules
{
    public function testNoMoreJobsOfAGroupAreHeldThanItsConcurrency(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(concurrency: 2));
        self::fill($queue, 'a1 a2 a3 a4 b1 b2 b3');

        $this->assertSame(['a1', 'b1', 'a2', 'b2', 'b3'], self::taken($queue));
        $this->assertSame([false, [], 0], [$queue->wait(0), $queue->reserveMany(5), $queue->drain(static fn () => null)]);
        self::$hands['b1']->ack();
        $this->assertNull($queue->reserve());
        self::$hands['a2']->ack();
        $this->assertTrue($queue->wait(0));
        $this->assertSame(['a3'], self::taken($queue));
        self::$hands['a1']->ack();
        self::$hands['a3']->ack();
        $this->assertSame(['a4'], self::taken($queue));
    }

    public function testABatchTakesNoMoreOfAGroupThanThereIsRoomFor(): void
    {
        $queue = $this->queue();
        $queue->limitGroups(null, new GroupLimits(concurrency: 2));
        self::fill($queue, 'a1 a2 a3 a4 b1 c1 c2 c3');
        $queue->push('plain');

        $this->assertSame(['a1', 'b1', 'c1', 'plain', 'a2', 'c2'], self::batch($queue, 20));
        $this->assertSame([], self::batch($queue, 20));
    }

    public function testEachEndOfAJobLetsTheNextOneIn(): void
    {
        $queue = $this->patient();
        $queue->limitGroups('a', new GroupLimits(concurrency: 1));
        self::fill($queue, 'a1 a2 a3 a4 a5 a6 a7');
        $ends = [
            'a1' => static fn ($job) => $job->ack(),
            'a2' => static fn ($job) => $job->fail(),
            'a3' => static fn ($job) => $job->bury(),
            'a4' => static fn ($job) => $job->release(60),
            'a5' => static fn ($job) => $queue->cancel($job->id),
            'a6' => fn () => $this->travel(61),
        ];
        foreach ($ends as $id => $end) {
            $job = $queue->reserve();
            $this->assertSame([$id, null], [$job?->id, $queue->reserve()], $id);
            $end($job);
        }
        $this->assertSame('a6', $queue->reserve()?->id, 'whose lease is over comes first: it is the oldest');
    }

    public function testAGroupThatWasFullComesAnew(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(concurrency: 1));
        self::fill($queue, 'a1 a2');
        $job = $queue->reserve();
        self::fill($queue, 'b1 b2');
        $job->ack();

        $this->assertSame(['b1', 'a2', 'b2'], self::taken($queue));
    }

    public function testRunningJobsCountFromTheFirstMomentOfALimit(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 a3 a4');
        self::taken($queue, 3);
        $queue->limitGroups('a', new GroupLimits(concurrency: 2));
        $this->assertNull($queue->reserve());
        self::$hands['a1']->ack();
        $this->assertNull($queue->reserve());
        self::$hands['a2']->ack();
        $this->assertSame('a4', $queue->reserve()?->id);
    }

    public function testAHigherLimitLetsMoreIn(): void
    {
        $queue = $this->queue();
        $queue->limitGroups(null, new GroupLimits(concurrency: 1));
        self::fill($queue, 'a1 a2 a3 b1 b2');
        $this->assertSame(['a1', 'b1'], self::taken($queue));
        $queue->limitGroups('a', new GroupLimits(concurrency: 2));
        $this->assertSame(['a2'], self::taken($queue));
        $queue->limitGroups(null);
        $this->assertSame(['b2'], self::taken($queue));
        $queue->limitGroups('a');
        $this->assertSame(['a3'], self::taken($queue));
    }

    public function testLimitsAreToldAndForgotten(): void
    {
        $queue = $this->queue();
        $this->assertSame(['queue' => null, 'others' => null, 'groups' => []], $queue->limits());
        $queue->limitGroups('b', new GroupLimits(3, '100/1m', 7, 2));
        $queue->limitGroups('a', new GroupLimits(ordered: true));
        $queue->limitGroups('7', new GroupLimits());
        $queue->limitGroups("\xff", new GroupLimits(7));
        $queue->limitGroups(null, new GroupLimits(rate: '5 / 90 seconds'));
        $queue->limitQueue(10, '1/2s');
        ['queue' => $whole, 'others' => $others, 'groups' => $groups] = $queue->limits();

        $this->assertEquals([new GroupLimits(10, '1/2s'), new GroupLimits(rate: '5/90s')], [$whole, $others]);
        $this->assertSame([7, 'a', 'b', "\xff"], array_keys($groups));
        $this->assertEquals([new GroupLimits(), new GroupLimits(1, ordered: true), new GroupLimits(3, '100/1m', 7, 2), new GroupLimits(7)], array_values($groups));
        $queue->limitGroups("\xff");
        $queue->limitGroups('b');
        $queue->limitGroups('a');
        $queue->limitGroups('7');
        $queue->limitGroups();
        $queue->limitQueue();
        $this->assertSame(['queue' => null, 'others' => null, 'groups' => []], $queue->limits());
    }

    public function testAJobThatIsTakenByItsIdPassesLimitsAndCounts(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(concurrency: 1));
        $queue->limitGroups('b', new GroupLimits(rate: '1/1h'));
        self::fill($queue, 'a1 a2 a3 b1 b2 b3');

        $this->assertSame(['a3', 'b3'], [$queue->reserveJob('a3')?->id, $queue->reserveJob('b3')?->id]);
        $this->assertNull($queue->reserve());
        $this->assertSame(['a2', 'b2'], [$queue->reserveJob('a2')?->id, $queue->reserveJob('b2')?->id]);
        $this->assertSame(2, $queue->groupStats('a')->reserved);
        $this->travel('1h1m');
        $this->assertSame(['a1', 'a2', 'a3'], self::served($queue), 'those leases are over, and b still owes a token');
        $this->travel('1h');
        $this->assertSame(['b1'], self::served($queue));
    }

    public function testALimitOfTheQueueCountsAllItsJobs(): void
    {
        $queue = $this->queue();
        $queue->limitQueue(concurrency: 3);
        $queue->push('plain', id: 'plain');
        self::fill($queue, 'a1 a2 b1');
        $queue->push('urgent', priority: 1);

        $this->assertSame(['urgent', 'plain', 'a1'], self::batch($queue, 10));
        $this->assertSame([null, false], [$queue->reserve(), $queue->wait(0)]);
        self::$hands['plain']->ack();
        $this->assertSame(['b1'], self::taken($queue));
        $queue->limitQueue();
        $this->assertSame(['a2'], self::taken($queue));
    }

    public function testWhatMayNotBeServedIsNotReadyForALoop(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(concurrency: 1));
        self::fill($queue, 'a1 a2');
        $held = $queue->reserve();
        $seen = [];
        $handler = static function ($job) use (&$seen): void {
            $seen[] = $job->id;
        };

        $this->assertSame([0, StopReason::Empty], [$queue->drain($handler), $queue->consume($handler, stopWhenEmpty: true)]);
        $held->ack();
        $this->assertSame([1, ['a2']], [$queue->drain($handler), $seen]);
    }

    public function testTheClassicConsumerKnowsNoLimits(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(concurrency: 1));
        $queue->limitQueue(1);
        self::fill($queue, 'a1 a2 a3');
        $queue->reserve();
        $queue->pause(group: 'a');

        $this->assertSame(['a2', 'a3'], $queue->consumer());
        $this->assertSame([0, 1], [$queue->groupStats('a')->waiting, $queue->groupStats('a')->reserved]);
    }

    public function testReadyJobsThatMayNotBeServedAreCountedAsBlocked(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(concurrency: 1));
        $queue->limitGroups('b', new GroupLimits(rate: '1/1h'));
        self::fill($queue, 'a1 a2 a3 b1 b2 c1 c2');
        $queue->push(1, delay: '2h', group: 'c');
        $this->assertSame([7, 0], [$queue->stats()->ready, $queue->stats()->blocked]);
        $this->assertSame(['a1', 'b1', 'c1'], self::taken($queue, 3));
        $this->travel(20);
        $this->assertSame([4, 3], [$queue->stats()->ready, $queue->stats()->blocked]);
        $this->assertEqualsWithDelta(20.0, $queue->stats()->oldestReadyAge, 5.0);
        self::taken($queue);
        $this->assertSame([3, 3, null, 1], [$queue->stats()->ready, $queue->stats()->blocked, $queue->stats()->oldestReadyAge, $queue->stats()->delayed]);
        self::$hands['a1']->ack();
        $queue->pause(group: 'b');
        $this->assertSame([3, 1], [$queue->stats()->ready, $queue->stats()->blocked]);
    }

    public function testAQueueWithLimitsIsNotForgotten(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(concurrency: 1));
        $this->assertFalse($queue->forget());
        $queue->limitGroups('a');
        $queue->pause(group: 'a');
        $this->assertFalse($queue->forget());
        $queue->resume('a');
        $this->assertTrue($queue->forget());
        $queue->limitGroups(null, new GroupLimits(weight: 3));
        self::fill($queue, 'a1 a2');
        $queue->reserve()?->ack();
        $queue->limitGroups();
        $this->assertSame(['a2'], self::served($queue));
        $this->assertTrue($queue->forget(), 'nothing is left of a turn');
    }

    public function testLimitsAreChecked(): void
    {
        $queue = $this->queue();
        $this->assertStringStartsWith('ValueError: limitQueue(): Argument #1 ($concurrency) must be', self::thrown(static fn () => $queue->limitQueue(0)));
        $this->assertStringStartsWith('ValueError: limitQueue(): Argument #2 ($rate) must be', self::thrown(static fn () => $queue->limitQueue(rate: '5/0')));
        $this->assertStringStartsWith('ValueError: limitQueue(): Argument #3 ($burst) must be', self::thrown(static fn () => $queue->limitQueue(burst: 5)));
        $this->assertSame(['queue' => null, 'others' => null, 'groups' => []], $queue->limits());
        $parts = $this->queue('parts', ['partitions' => 2]);
        $this->assertSame(
            'ValueError: limitQueue(): a queue of several partitions cannot be limited as a whole: each is served by itself, and does not know how many jobs of the others run',
            self::thrown(static fn () => $parts->limitQueue(5)),
        );
        $this->assertSame('nothing', self::thrown(static fn () => $parts->limitQueue()));
    }
}
