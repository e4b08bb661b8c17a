<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DateTimeImmutable;
use DelayQueue\GroupLimits;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use DelayQueue\Testing;

/** Groups take turns: a group stands in line as one, however many jobs it has. */
trait GroupRules
{
    public function testATenantWithManyJobsDelaysNobody(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 a3 a4 b1 c1 c2');

        $this->assertSame(['a1', 'b1', 'c1', 'a2', 'c2', 'a3', 'a4'], self::served($queue));
    }

    public function testAJobWithoutAGroupIsItsOwnTenant(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 a3');
        $queue->push('plain');
        self::fill($queue, 'b1');
        $queue->push('plain, too');

        $this->assertSame(['a1', 'plain', 'b1', 'plain, too', 'a2', 'a3'], self::served($queue));
    }

    public function testAGroupThatComesNewStandsBehindThoseInLine(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 b1 b2');
        $this->assertSame(['a1', 'b1'], self::taken($queue, 2));
        self::fill($queue, 'c1 a2');

        $this->assertSame(['b2', 'c1', 'a2'], self::taken($queue));
    }

    public function testThePriorityOfAPlainJobGoesBeforeAndBehindGroups(): void
    {
        $queue = $this->queue();
        $queue->push('least', priority: 2000);
        $queue->push('group, urgent', priority: 1, group: 'a');
        $queue->push('group, not urgent', priority: 3000, group: 'b');
        $queue->push('default');
        $queue->push('urgent', priority: 1000);

        $this->assertSame(['urgent', 'group, urgent', 'group, not urgent', 'default', 'least'], self::served($queue));
    }

    public function testThePriorityOfAGroupsJobOrdersItsGroupAlone(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'b1');
        foreach (['late' => 2000, 'second' => 1024, 'urgent' => 3, 'urgent, too' => 3] as $payload => $priority) {
            $queue->push($payload, priority: $priority, group: 'a');
        }

        $this->assertSame(['b1', 'urgent', 'urgent, too', 'second', 'late'], self::served($queue));
    }

    public function testWithinAGroupDueTimeComesBeforeId(): void
    {
        $queue = $this->queue();
        $moment = new DateTimeImmutable('2020-02-02 02:02:02.020202 UTC');
        foreach (['b' => 0, 'c' => 0, 'a' => 0, '10' => 0, '9' => 0, 'first' => -1] as $id => $seconds) {
            $queue->push("$id", $moment->modify("$seconds seconds"), "$id", group: 'g');
        }
        $this->assertSame(['first', '10', '9', 'a', 'b', 'c'], self::served($queue));
    }

    public function testAGroupHasItsTurnWhenItsJobFallsDue(): void
    {
        $queue = $this->queue();
        $queue->push('a', delay: 20, group: 'a');
        $queue->push('b', delay: 10, group: 'b');
        $queue->push('plain', delay: 15);
        $queue->push('urgent, not due', delay: 60, priority: 1, group: 'b');

        $this->assertSame([null, false], [$queue->reserve(), $queue->wait(0)]);
        $this->travel(30);
        $this->assertSame(['b', 'plain', 'a'], self::served($queue));
        $this->travel(40);
        $this->assertSame(['urgent, not due'], self::served($queue));
    }

    public function testAPastMomentIsNoWayToTheFrontOfTheLine(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'b1');
        $queue->push('past', delay: new DateTimeImmutable('2020-01-01'), group: 'a');

        $this->assertSame(['b1', 'past'], self::served($queue));
    }

    public function testABatchGivesEachGroupATurnAndThenFurtherRounds(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 a3 a4 b1 c1 c2 c3');
        $queue->push('plain');

        $this->assertSame(['a1', 'b1', 'c1', 'plain', 'a2', 'c2'], self::batch($queue, 6));
        $this->assertSame(['a3', 'c3', 'a4'], self::batch($queue, 6));
        $this->assertSame(['a', 'c', null], [self::$hands['a4']->group, self::$hands['c3']->group, $queue->reserveJob($queue->push('x'))?->group]);
    }

    public function testABatchThatEndsEarlierLeavesTheLineAsItIs(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 b1 c1');

        $this->assertSame(['a1', 'b1'], self::batch($queue, 2));
        $this->assertSame(['c1', 'a2'], self::taken($queue));
    }

    public function testAWeightIsSoManyJobsATurn(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(weight: 3));
        self::fill($queue, 'a1 a2 a3 a4 a5 b1 b2 b3');
        $this->assertSame(['a1', 'a2', 'a3', 'b1', 'a4', 'a5', 'b2', 'b3'], self::served($queue));

        self::fill($queue, 'a1 a2 a3 a4 a5 b1 b2 b3');
        $this->assertSame(['a1', 'a2', 'a3', 'b1', 'a4', 'a5', 'b2'], self::batch($queue, 7));
    }

    public function testATurnOfSomeWeightGoesOnInTheNextBatch(): void
    {
        $queue = $this->queue();
        $queue->limitGroups(null, new GroupLimits(weight: 3));
        self::fill($queue, 'a1 a2 a3 a4 b1 b2 b3 b4');

        $this->assertSame(['a1', 'a2'], self::batch($queue, 2));
        $this->assertSame(['a3', 'b1'], self::batch($queue, 2));
        $this->assertSame(['b2', 'b3', 'a4', 'b4'], self::taken($queue));
    }

    public function testEachWayToPushTakesAGroup(): void
    {
        $queue = $this->queue();
        $queue->push(1, id: 'push', group: "tenant-42 \u{e4}\xff");
        $queue->tryPush(1, id: 'tryPush', group: '7');
        $queue->pushMany([['payload' => 1, 'id' => 'pushMany', 'group' => 'b'], ['payload' => 1, 'id' => 'none']]);
        $queue->pushOnce([['receipt' => 'r', 'payload' => 1, 'id' => 'pushOnce', 'group' => 'c']]);
        $queue->push(1, id: 'null', group: null);
        $wanted = ['push' => "tenant-42 \u{e4}\xff", 'tryPush' => '7', 'pushMany' => 'b', 'none' => null, 'pushOnce' => 'c', 'null' => null];

        foreach ($wanted as $id => $group) {
            $this->assertSame($group, $queue->peek($id)?->group, $id);
            $this->assertSame($group, $queue->reserveJob($id)?->group, $id);
        }
        $this->assertSame($wanted, array_column(array_map(get_object_vars(...), $queue->list(State::Reserved)), 'group', 'id'));
    }

    public function testAJobKeepsItsGroupUntilItIsReplaced(): void
    {
        $queue = $this->patient();
        self::fill($queue, 'a1 a2');
        $queue->update('a1', 'updated');
        $queue->reschedule('a1', 5);
        $queue->reserveJob('a1')?->fail();
        $queue->push('kept', id: 'a1', onDuplicate: OnDuplicate::Keep, group: 'b');
        $this->assertSame('a', $queue->peek('a1')?->group);
        $queue->push('moved', id: 'a1', onDuplicate: OnDuplicate::Replace, group: 'b');
        $queue->push('plain', id: 'a2', onDuplicate: OnDuplicate::Replace);

        $this->assertSame(['b'], $queue->groups());
        $this->assertSame([0, 1], [$queue->groupStats('a')->waiting, $queue->groupStats('b')->waiting]);
        $this->assertSame(['moved', 'plain'], self::served($queue));
    }

    public function testAKickedBuriedJobIsTheLastOfItsGroup(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 a3');
        $queue->reserve()?->bury();
        $this->assertTrue($queue->kickJob('a1'));

        $this->assertSame(['a2', 'a3', 'a1'], self::served($queue));
    }

    public function testAClockThatIsSetBackKeepsNobodyWaiting(): void
    {
        $queue = $this->queue();
        $moment = new DateTimeImmutable('2040-01-01 UTC');
        Testing::travelTo($moment->modify('+1 day'));
        foreach (['a', 'b'] as $group) {
            $queue->pushMany(array_fill(0, 2, ['payload' => $group, 'group' => $group, 'delay' => $moment->modify('-1 hour')]));
        }
        $this->assertSame(['a'], self::taken($queue, 1));
        Testing::travelTo($moment);

        $this->assertCount(3, self::served($queue));
    }

    public function testWatchedQueuesHaveALineEach(): void
    {
        [$first, $second] = [$this->queue('first'), $this->queue('second')];
        self::fill($second, 'b1 b2 a1');
        self::fill($first, 'a1 a2 b1');
        $second->limitGroups('b', new GroupLimits(concurrency: 1));

        $this->assertSame(['a1', 'b1', 'a2', 'b1', 'a1'], self::taken($this->queue('own')->watch('first', 'second')));
    }

    public function testAJobOfAGroupThatComesBackStandsBehindTheOthers(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 b1');
        $queue->reserve()?->release();

        $this->assertSame(['b1', 'a2', 'a1'], self::served($queue));
    }
}
