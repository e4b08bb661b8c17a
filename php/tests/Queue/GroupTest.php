<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue\Backoff;
use DelayQueue\Event;
use DelayQueue\GroupLimits;
use DelayQueue\Job;
use DelayQueue\RateLimited;
use DelayQueue\State;

/** Groups of jobs: their names, limits, lists and numbers. */
final class GroupTest extends QueueCase
{
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
