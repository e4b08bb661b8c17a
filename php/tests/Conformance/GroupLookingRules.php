<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\Backoff;
use DelayQueue\GroupLimits;
use DelayQueue\State;

/** Lists of groups, and the removal of their jobs. */
trait GroupLookingRules
{
    public function testGroupsAreNamedThatHaveWaitingOrHeldJobs(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'b1 a1 C1 gone1 buried1');
        $queue->push(1, group: '10');
        $queue->push(1, group: '9', delay: 60);
        $queue->push(1);
        $queue->reserveJob('b1');
        $queue->reserveJob('gone1')?->ack();
        $queue->reserveJob('buried1')?->bury();

        $this->assertSame(['10', '9', 'C', 'a', 'b'], $queue->groups());
        $this->assertSame(['10', '9'], $queue->groups(2));
        $this->assertSame(['C', 'a'], $queue->groups(2, '9'));
        $this->assertSame(['a', 'b'], $queue->groups(after: 'D'));
        $this->assertSame([], $queue->groups(5, 'b'));
        $this->assertSame([], $this->queue('empty')->groups());
        $this->assertSame('ValueError: groups(): Argument #1 ($limit) must be greater than or equal to 1', self::thrown(static fn () => $queue->groups(0)));
    }

    public function testNumbersOfAGroup(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 b1 buried1');
        $queue->push(1, delay: 60, id: 'a3', group: 'a');
        $queue->push(1, delay: 60, id: 'c1', group: 'c');
        $queue->reserveJob('a2');
        $queue->reserveJob('buried1')?->bury();
        $numbers = static fn (string $group): array => array_slice(get_object_vars($queue->groupStats($group)), 0, 2);

        $this->assertSame(['waiting' => 2, 'reserved' => 1], $numbers('a'));
        $this->assertSame(['waiting' => 0, 'reserved' => 0], $numbers('buried'));
        $this->assertSame([null, null, false], array_slice(array_values(get_object_vars($queue->groupStats('none'))), 2));
        $this->assertEqualsWithDelta($queue->peek('a1')->dueAt, $queue->groupStats('a')->nextTurnAt, 0.001);
        $this->assertEqualsWithDelta($queue->peek('c1')->dueAt, $queue->groupStats('c')->nextTurnAt, 0.001);
    }

    public function testAFullGroupHasNoNextTurn(): void
    {
        $queue = $this->queue();
        $queue->limitGroups('a', new GroupLimits(concurrency: 1));
        self::fill($queue, 'a1 a2');
        $job = $queue->reserve();
        $this->assertNull($queue->groupStats('a')->nextTurnAt);
        $job->ack();
        $this->assertEqualsWithDelta($queue->now(), $queue->groupStats('a')->nextTurnAt, 5.0);
    }

    public function testTheJobsOfAGroupAreListedInItsOrder(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 b1 a2 a3');
        $queue->push(1, id: 'a0', priority: 5, group: 'a');
        $queue->push(1, delay: 20, id: 'a5', group: 'a');
        $queue->push(1, delay: 10, id: 'a6', group: 'a');
        $queue->push(1, delay: 10, id: 'b5', group: 'b');
        $queue->push(1);
        $queue->reserveJob('a3');

        $this->assertSame(['a0', 'a1', 'a2'], self::idsOf($queue, 'a', State::Ready));
        $this->assertSame(['a1'], self::idsOf($queue, 'a', State::Ready, 1, 1));
        $this->assertSame([], self::idsOf($queue, 'a', State::Ready, 3));
        $this->assertSame(['a6', 'a5'], self::idsOf($queue, 'a', State::Delayed));
        $this->assertSame(['a3'], self::idsOf($queue, 'a', State::Reserved));
        $this->assertSame([[], []], [self::idsOf($queue, 'none', State::Ready), self::idsOf($queue, 'b', State::Reserved)]);
        $this->assertSame(['a', State::Ready, 5], [$queue->list(State::Ready, group: 'a')[0]->group, $queue->list(State::Ready, group: 'a')[0]->state, $queue->list(State::Ready, group: 'a')[0]->priority]);
    }

    public function testAListOfAGroupHasNoPlaceInAnotherList(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1');
        $job = $queue->peek('a1');

        $this->assertSame(
            'ValueError: list(): Argument #4 ($after) must be null when argument #5 ($group) is given',
            self::thrown(static fn () => $queue->list(State::Ready, after: $job, group: 'a')),
        );
        $this->assertSame(
            "ValueError: list(): Argument #5 (\$group) must be null for State::Buried: a group does not know its buried jobs",
            self::thrown(static fn () => $queue->list(State::Buried, group: 'a')),
        );
        $this->assertSame(['a1'], self::ids($queue, State::Ready), 'they are in the list of all');
    }

    public function testAGroupIsCancelledAsAWhole(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 a3 a4 b1');
        $queue->push(1, delay: 60, group: 'a');
        $held = $queue->reserveJob('a1');
        $queue->reserveJob('a2')?->bury();

        $this->assertSame(3, $queue->cancelGroup('a'));
        $this->assertSame([0, 1, 3], [$queue->groupStats('a')->waiting, $queue->groupStats('a')->reserved, $queue->stats()->cancelled]);
        $this->assertSame(1, $queue->cancelGroup('a', true));
        $this->assertSame('LeaseLostException', strstr(self::thrown($held->ack(...)), ':', true));
        $this->assertSame([State::Buried, 0, ['b']], [$queue->peek('a2')?->state, $queue->cancelGroup('a', true), $queue->groups()]);
        $this->assertSame(['b1'], self::served($queue));
    }

    public function testTheStatesOfAQueueCountJobsOfGroups(): void
    {
        $queue = $this->queue();
        self::fill($queue, 'a1 a2 b1 b2');
        $queue->push(1, delay: 60, group: 'a');
        $queue->reserveJob('a1');
        $queue->reserveJob('b1')?->bury();
        $stats = $queue->stats();

        $this->assertSame([1, 2, 1, 1, 0], [$stats->delayed, $stats->ready, $stats->reserved, $stats->buried, $stats->blocked]);
        $this->assertSame([2, 5], [$queue->count(State::Ready), $queue->count()]);
        $this->assertSame(['a', 'a', 'b'], [$queue->peekReady()?->group, $queue->peekDelayed()?->group, $queue->peekBuried()?->group]);
        $this->assertSame(2, $queue->purge(State::Ready));
        $this->assertSame([['a'], null], [$queue->groups(), $queue->reserve()]);
    }

    public function testAGroupLiesInOnePartition(): void
    {
        $queue = $this->queue('parts', ['partitions' => 3, 'backoff' => Backoff::fixed(10)]);
        $queue->limitGroups(null, new GroupLimits(ordered: true));
        $names = range('a', 'h');
        foreach ($names as $name) {
            self::fill($queue, "{$name}1 {$name}2");
        }
        $this->assertSame($names, $queue->groups());
        $this->assertSame(['c', 'd', 'e'], $queue->groups(3, 'b'));
        $first = self::taken($queue);
        sort($first);
        $this->assertSame(array_map(static fn (string $name): string => "{$name}1", $names), $first);
        $this->assertSame([8, 8, 1, 1], [$queue->stats()->ready, $queue->stats()->blocked, $queue->groupStats('d')->waiting, $queue->groupStats('d')->reserved]);
        self::$hands['d1']->fail();
        self::$hands['e1']->ack();
        $this->assertSame(['e2'], self::taken($queue));
        $this->assertSame([['d2'], ['d1'], []], [self::idsOf($queue, 'd', State::Ready), self::idsOf($queue, 'd', State::Delayed), self::idsOf($queue, 'd', State::Reserved)]);
        $this->assertSame([2, 1], [$queue->cancelGroup('d'), $queue->cancelGroup('e', true)]);
        $queue->pause(group: 'f');
        $queue->rateLimit(60, 'g');
        $this->assertSame([true, true, false], [$queue->isPaused('f'), $queue->isPaused('g'), $queue->isPaused('h')]);
        $queue->resume('f');
        $this->assertFalse($queue->isPaused('f'));
        $this->assertSame(['others'], array_keys(array_filter($queue->limits())));
    }

    public function testANameOfAGroupIsAsAnId(): void
    {
        $queue = $this->queue();
        $long = str_repeat('x', 200);
        $queue->push(1, group: $long);
        $this->assertSame([$long], $queue->groups());

        foreach (['', "{$long}x", "a\nb", "\0"] as $name) {
            $errors = [
                'push(): Argument #16 ($group)' => static fn () => $queue->push(1, group: $name),
                'tryPush(): Argument #16 ($group)' => static fn () => $queue->tryPush(1, group: $name),
                'pushMany(): Argument #1 ($jobs) item 0: "group"' => static fn () => $queue->pushMany([['payload' => 1, 'group' => $name]]),
                'limitGroups(): Argument #1 ($group)' => static fn () => $queue->limitGroups($name),
                'rateLimit(): Argument #2 ($group)' => static fn () => $queue->rateLimit(1, $name),
                'pause(): Argument #2 ($group)' => static fn () => $queue->pause(group: $name),
                'resume(): Argument #1 ($group)' => static fn () => $queue->resume($name),
                'isPaused(): Argument #1 ($group)' => static fn () => $queue->isPaused($name),
                'cancelGroup(): Argument #1 ($group)' => static fn () => $queue->cancelGroup($name),
                'groupStats(): Argument #1 ($group)' => static fn () => $queue->groupStats($name),
                'list(): Argument #5 ($group)' => static fn () => $queue->list(State::Ready, group: $name),
            ];
            foreach ($errors as $place => $call) {
                $must = in_array(strlen($name), [0, 201], true) ? 'be between 1 and 200 bytes long' : 'not contain control characters';
                $this->assertSame("ValueError: $place must $must", self::thrown($call));
            }
        }
        $this->assertSame(1, $queue->count());
    }
}
