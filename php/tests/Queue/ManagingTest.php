<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\DuplicateJobException;
use DelayQueue\State;
use DelayQueue\Testing;

/** Jobs that nobody holds, and the queue as a whole. */
final class ManagingTest extends QueueCase
{
    public function testAPeekTellsAllAboutAJob(): void
    {
        $queue = $this->queue(options: ['ttr' => 30, 'maxAttempts' => 4, 'priority' => 9, 'backoff' => Backoff::fixed(3)]);
        $queue->push(['a' => ['b' => 1.0]], delay: 60, id: 'a', timeout: 5, headers: ['h' => 'ä']);
        $info = $queue->peek('a');

        $this->assertSame(['a', 'rules', State::Delayed], [$info?->id, $info?->queue, $info?->state]);
        $this->assertSame([['a' => ['b' => 1.0]], '{"a":{"b":1.0}}', ['h' => 'ä']], [$info?->payload, $info?->body, $info?->headers]);
        $this->assertSame([0, 4, 9, 30.0, 5.0, 'fixed 3s'], [$info->attempts, $info->maxAttempts, $info->priority, $info->ttr, $info->timeout, (string) $info->backoff]);
        $this->assertSame([0, 0, 0, 0, null, null], [$info->timeouts, $info->releases, $info->buries, $info->kicks, $info->lastError, $info->leaseUntil]);
        $this->assertSame([null, null], [$info->seal, $info->sealError]);
        $this->assertNull($queue->peek('none'));
        $queue->reserveJob('a');
        $info = $queue->peek('a');
        $this->assertSame([State::Reserved, 1], [$info?->state, $info?->attempts]);
        $this->assertEqualsWithDelta(30.0, $info->leaseUntil - microtime(true), 5.0);
    }

    public function testAPayloadMayBeReplacedWhileNobodyHoldsTheJob(): void
    {
        $queue = $this->queue();
        $queue->push(1, delay: 60, id: 'a', headers: ['h' => '1']);
        $due = $queue->peek('a')?->dueAt;

        $this->assertTrue($queue->update('a', 2));
        $this->assertSame([2, ['h' => '1'], $due], [$queue->peek('a')?->payload, $queue->peek('a')?->headers, $queue->peek('a')?->dueAt]);
        $this->assertTrue($queue->update('a', 3, ['n' => 'x']));
        $this->assertSame([3, ['n' => 'x']], [$queue->peek('a')?->payload, $queue->peek('a')?->headers]);
        $queue->reserveJob('a')?->bury();
        $this->assertTrue($queue->update('a', 4, []));
        $this->assertSame([4, [], State::Buried], [$queue->peek('a')?->payload, $queue->peek('a')?->headers, $queue->peek('a')?->state]);
        $queue->reserveJob('a');
        $this->assertSame([false, false], [$queue->update('a', 5), $queue->update('none', 5)]);
    }

    public function testAJobMayBeDueAtAWholeSecond(): void
    {
        $queue = $this->queue();
        $moment = new DateTimeImmutable('tomorrow 9:00');
        $queue->push('remind', delay: $moment, id: 'a');
        $this->assertSame([(float) $moment->getTimestamp(), null], [$queue->stats()->nextDueAt, $queue->stats()->oldestReadyAge]);
        Testing::travelTo($moment->modify('+1 second'));
        $this->assertGreaterThanOrEqual(1.0, $queue->stats()->oldestReadyAge);
        $this->assertNull($queue->stats()->nextDueAt);
    }

    public function testOffsetsAndLimitsMayBeAsLargeAsAnInt(): void
    {
        $queue = $this->queue();
        $queue->push('later', 3600, 'later');
        $queue->push('urgent', id: 'urgent', priority: 7);
        $queue->push('grouped', id: 'grouped', group: 'g');
        $queue->push('ready', id: 'ready');
        $queue->push('held', id: 'held');
        $queue->reserveJob('held');
        foreach (['one', 'two'] as $id) {
            $queue->push($id, id: $id);
            $queue->reserveJob($id)?->bury();
        }
        foreach (State::cases() as $state) {
            $this->assertCount($queue->count($state), $queue->list($state, 0, PHP_INT_MAX));
            $this->assertSame([], $queue->list($state, PHP_INT_MAX, PHP_INT_MAX));
            $this->assertSame([], $queue->list($state, PHP_INT_MAX, 1));
            $this->assertSame([], $queue->list($state, PHP_INT_MAX - 1, 1, $queue->list($state)[0]));
        }
        $this->assertSame([], $queue->list(State::Ready, PHP_INT_MAX, PHP_INT_MAX, group: 'g'));
        $this->assertSame(['grouped'], self::idsOf($queue, 'g', State::Ready, 0, PHP_INT_MAX));
        $this->assertSame(['g'], $queue->groups(PHP_INT_MAX));
        $this->assertSame([], $queue->receipts(limit: PHP_INT_MAX));
        $this->assertSame(2, $queue->kick(PHP_INT_MAX));
        $this->assertCount(5, $queue->reserveMany(PHP_INT_MAX));
    }

    public function testAJobOfAnotherStateIsNoPlaceInThisOne(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a');
        $job = $queue->peekReady();

        $this->assertSame(
            'ValueError: list(): Argument #4 ($after) must be a job in the state that is listed',
            self::thrown(static fn () => $queue->list(State::Delayed, after: $job)),
        );
        $this->assertSame(
            'ValueError: list(): Argument #4 ($after) must be a job, or the place of one',
            self::thrown(static fn () => $queue->list(State::Delayed, after: 'a')),
        );
    }

    public function testWatchedQueuesAreServedOneAfterTheOther(): void
    {
        $this->queue('slow')->push('slow', priority: 0);
        $this->queue('quick')->push('quick');
        $queue = $this->queue('own')->watch('quick', 'slow', 'quick');
        $queue->push('own');

        $this->assertSame(['quick', 'slow'], self::served($queue));
        $this->assertSame(['own'], self::served($queue->watch()));
        $this->assertSame(['own', 'quick', 'slow'], $queue->queues());
    }

    public function testTheClassicConsumerTakesByDueTimeAlone(): void
    {
        $queue = $this->queue();
        $this->assertTrue($queue->producer('b', 2000, ['n' => 1]));
        $this->assertTrue($queue->producer('a', 1000.5, ['n' => 2]));
        $this->assertTrue($queue->producer('b', 3000, ['n' => 3]));
        $queue->push(['n' => 4], priority: 1);

        $this->assertSame([['n' => 2]], $queue->consumer(2999));
        $this->assertSame([['n' => 3], ['n' => 4]], $queue->consumer());
        $this->assertSame(0, $queue->count());
        $this->assertSame(3, $queue->stats()->acked);

        $queue->producer('held', 1, []);
        $this->assertNotNull($queue->reserve());
        $this->assertSame("DuplicateJobException: job 'held' is already in queue 'rules'", self::thrown(static fn () => $queue->producer('held', 1, [])));
        foreach (range(1, 12) as $n) {
            $queue->producer("n$n", $n, [$n]);
        }
        $taken = [$queue->consumer(), $queue->consumer(limit: 1), $queue->consumer(null, 5)];
        $this->assertSame([range(1, 10), [11], [12]], array_map(static fn (array $messages): array => array_merge(...$messages), $taken));
    }
}
