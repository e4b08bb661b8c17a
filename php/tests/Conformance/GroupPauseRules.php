<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\Event;
use DelayQueue\GroupLimits;
use DelayQueue\Job;
use DelayQueue\RateLimited;
use DelayQueue\State;

/** Groups and queues that are closed for a time, or until somebody opens them. */
trait GroupPauseRules
{
    public function testAPausedGroupGivesNothingAndTheOthersGoOn(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 b1 b2');
        $queue->push('plain');
        $queue->pause(group: 'a');

        $this->assertSame([true, false, false], [$queue->isPaused('a'), $queue->isPaused('b'), $queue->isPaused()]);
        $this->assertSame(['b1', 'plain', 'b2'], self::served($queue));
        $this->assertSame([false, 2, 2], [$queue->wait(0), $queue->stats()->ready, $queue->stats()->blocked]);
        $this->assertSame([2, null, null, true], [
            $queue->groupStats('a')->waiting, $queue->groupStats('a')->nextTurnAt, $queue->groupStats('a')->closedUntil, $queue->groupStats('a')->paused,
        ]);
        $this->assertSame('a2', $queue->reserveJob('a2')?->id);
        self::fill($queue, 'b3');
        $queue->resume('a');
        $this->assertFalse($queue->isPaused('a'));
        $this->assertSame(['b3', 'a1'], self::served($queue), 'as if it came now');
    }

    public function testAPauseOfAGroupEndsByItself(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1');
        $queue->pause('5m', 'a');
        $this->assertEqualsWithDelta($queue->now() + 300, $queue->groupStats('a')->closedUntil, 5);
        $this->travel('4m');
        $this->assertNull($queue->reserve());
        $this->travel('2m');
        $this->assertSame([false, null], [$queue->isPaused('a'), $queue->groupStats('a')->closedUntil]);
        $this->assertSame(['a1'], self::served($queue));
    }

    public function testAClosedGroupHasItsTurnAfterwardsAndAnEmptyOneHasNone(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 b1');
        $queue->pause('1h', 'a');
        $this->assertSame($queue->groupStats('a')->closedUntil, $queue->groupStats('a')->nextTurnAt, 'nobody has looked yet');
        $queue->pause(null, 'a');
        $this->assertNull($queue->groupStats('a')->nextTurnAt);
        $queue->resume('a');
        $this->assertEqualsWithDelta($queue->now(), $queue->groupStats('a')->nextTurnAt, 5.0);
        $queue->cancelGroup('a');
        $this->assertNull($queue->groupStats('a')->nextTurnAt);
    }

    public function testAnEmptyGroupThatIsClosedKeepsNoPlaceInLine(): void
    {
        $queue = $this->queue();
        $queue->pause('1m', 'a');
        $this->assertNull($queue->reserve());
        $this->travel('2m');
        self::fill($queue, 'b1 a1');
        $this->assertSame(['b1', 'a1'], self::served($queue));
    }

    public function testAPauseSetsTheEndAndARateLimitOnlyPutsItOff(): void
    {
        foreach (['a', null] as $group) {
            $queue = $this->queue("of-$group");
            $queue->push('x', group: 'a');
            $queue->rateLimit('1h', $group);
            $queue->rateLimit('1m', $group);
            $this->assertTrue($queue->isPaused($group));
            $this->travel('59m');
            $this->assertNull($queue->reserve());
            $queue->pause('10s', $group);
            if ($group !== null) {
                $this->assertEqualsWithDelta($queue->now() + 10, $queue->groupStats($group)->nextTurnAt, 5.0);
            }
            $this->travel(11);
            $this->assertFalse($queue->isPaused($group));
            $this->assertTrue($queue->wait(0));

            $queue->pause(null, $group);
            $queue->rateLimit('1m', $group);
            $this->travel('2m');
            $this->assertSame([true, null], [$queue->isPaused($group), $queue->reserve()], 'until resume');
            $queue->rateLimit('1m', $group);
            $queue->resume($group);
            $this->assertSame(['x'], self::served($queue));
        }
    }

    public function testAClosedGroupStaysClosedWhateverBecomesOfItsLimitsAndJobs(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1');
        $queue->limitGroups('a', new GroupLimits(rate: '1/1s'));
        $queue->rateLimit('1h', 'a');
        $queue->limitGroups('a');
        $queue->cancelGroup('a');
        self::fill($queue, 'a2');

        $this->assertSame([true, null], [$queue->isPaused('a'), $queue->reserve()]);
        $this->travel('61m');
        $this->assertSame(['a2'], self::served($queue));
    }

    public function testAJobThatFallsDueInAClosedGroupWaits(): void
    {
        $queue = $this->queue();
        $queue->push('a', delay: 10, group: 'a');
        $queue->rateLimit(60, 'a');
        $this->travel(20);
        $this->assertSame([null, 1], [$queue->reserve(), $queue->stats()->blocked]);
        $this->travel(50);
        $this->assertSame([0, ['a']], [$queue->stats()->blocked, self::served($queue)]);
    }

    public function testAHandlerThatIsLimitedClosesItsGroupAndCostsNoAttempt(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 b1');
        $due = $queue->peek('a1')?->dueAt;
        $heard = $seen = [];
        foreach ([Event::Released, Event::Failed] as $event) {
            $queue->on($event, static function (Event $event, ?Job $job) use (&$heard): void {
                $heard[] = "$event->value $job?->id";
            });
        }
        $handled = $queue->drain(static function (Job $job) use (&$seen): void {
            $seen[] = "$job->id $job->attempts";
            if ($seen === ['a1 1']) {
                throw new RateLimited('1m', message: 'too many requests');
            }
        });

        $this->assertSame([2, ['a1 1', 'b1 1'], ['released a1']], [$handled, $seen, $heard]);
        $info = $queue->peek('a1');
        $this->assertSame([State::Ready, $due, 0, 0, 'too many requests'], [$info->state, $info->dueAt, $info->attempts, $info->releases, $info->lastError]);
        $this->assertTrue($queue->isPaused('a'));
        $this->travel(61);
        $this->assertSame(2, $queue->drain(static function (Job $job) use (&$seen): void {
            $seen[] = "$job->id $job->attempts";
        }));
        $this->assertSame(['a1 1', 'a2 1'], array_slice($seen, 2));
    }

    public function testAHandlerMayCloseAnotherGroupOrWithoutAGroupItsQueue(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 b1');
        $this->assertSame(1, $queue->drain(static fn () => throw new RateLimited(60, 'b'), 1));
        $this->assertSame([false, true, false], [$queue->isPaused('a'), $queue->isPaused('b'), $queue->isPaused()]);
        $this->assertSame(['a1'], self::served($queue));
        $queue->push('plain', id: 'plain');
        $this->assertSame(1, $queue->drain(static fn () => throw new RateLimited(30)));
        $this->assertSame([true, 0], [$queue->isPaused(), $queue->peek('plain')?->attempts]);
        $this->travel(31);
        $this->assertSame(['plain'], self::served($queue));
    }
}
