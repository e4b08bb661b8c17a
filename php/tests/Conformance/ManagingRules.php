<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\State;
use DelayQueue\Testing;

/** Jobs that nobody holds, and the queue as a whole. */
trait ManagingRules
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

    public function testEachKindOfPayloadComesBackAsJson(): void
    {
        $queue = $this->queue();
        foreach ([null, true, 0, 1.5, 'ä/', [], [1], ['k' => null], (object) ['k' => 'v'], new DateTimeImmutable('@0')] as $payload) {
            $queue->push($payload);
            $this->assertSame(json_decode((string) json_encode($payload), true), $queue->reserve()?->payload);
        }
        $raw = $this->queue('raw', ['format' => 'raw']);
        $raw->push("\0\xff");
        $this->assertSame("\0\xff", $raw->peekReady()?->payload);
        $this->assertSame("\0\xff", $raw->reserve()?->payload);
    }

    public function testCancelledJobsAreGoneInEveryState(): void
    {
        $queue = $this->queue();
        $queue->push('held', id: 'held');
        $job = $queue->reserve();
        $queue->push('delayed', delay: 60, id: 'delayed');
        $queue->push('ready', id: '5');

        $this->assertSame(3, $queue->cancel('held', 'delayed', '5', 'none', '5'));
        $this->assertSame([0, 3, 0], [$queue->count(), $queue->stats()->cancelled, $queue->cancel('held')]);
        $this->assertSame('LeaseLostException', strstr(self::thrown($job->ack(...)), ':', true));
        $this->assertSame('LeaseLostException', strstr(self::thrown($job->touch(...)), ':', true));
        $queue->push('again', id: 'held');
        $this->assertSame(1, $queue->count());
        $this->assertSame(0, $queue->cancel());
    }

    public function testAJobGetsANewTime(): void
    {
        $queue = $this->queue();
        $queue->push('a', delay: 60, id: 'a');
        $this->assertTrue($queue->reschedule('a', 0));
        $this->assertSame(State::Ready, $queue->peek('a')?->state);
        $this->assertTrue($queue->reschedule('a', '1h'));
        $this->assertSame(State::Delayed, $queue->peek('a')?->state);
        $this->assertTrue($queue->reschedule('a', new DateTimeImmutable('2020-01-01 00:00:00.5 UTC')));
        $this->assertSame(1577836800.5, $queue->peek('a')?->dueAt);
        $queue->reserve()?->bury('why');
        $this->assertTrue($queue->reschedule('a', 5));
        $this->assertSame([State::Delayed, 'why', 1], [$queue->peek('a')?->state, $queue->peek('a')?->lastError, $queue->peek('a')?->attempts]);
        $queue->reserveJob('a');
        $this->assertSame([false, false], [$queue->reschedule('a', 5), $queue->reschedule('none', 5)]);
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

    public function testAPausedQueueGivesNothing(): void
    {
        $queue = $this->queue();
        $queue->push('a');
        $queue->push('b', id: 'b');
        $queue->pause();
        $this->assertSame([true, true], [$queue->isPaused(), $queue->stats()->paused]);
        $this->assertNull($queue->reserve());
        $this->assertFalse($queue->wait(0));
        $this->assertSame([[], 2], [$queue->consumer(), $queue->count()]);
        $this->assertSame('b', $queue->reserveJob('b')?->id);
        $queue->resume();
        $this->assertSame(['a'], self::served($queue));

        $queue->push('c');
        $queue->pause('5m');
        $this->travel('4m');
        $this->assertNull($queue->reserve());
        $this->travel('2m');
        $this->assertFalse($queue->isPaused());
        $this->assertSame(['b', 'c'], self::served($queue));
    }

    public function testStatesAreCountedAndPurged(): void
    {
        $queue = $this->queue();
        $fill = static function () use ($queue): void {
            $queue->push('buried', id: 'buried');
            $queue->reserve()?->bury();
            $queue->push('held', id: 'held');
            $queue->reserve();
            $queue->push('ready', id: 'ready');
            $queue->push('ready, too', id: 'ready 2', priority: 1);
            $queue->push('delayed', delay: 60, id: 'delayed');
        };
        $fill();
        $counts = array_map($queue->count(...), State::cases());
        $this->assertSame([1, 2, 1, 1, 5], [...$counts, $queue->count()]);
        $this->assertCount(5, $queue);
        $this->assertSame(2, $queue->purge(State::Buried, State::Delayed, State::Buried));
        $this->assertSame(3, $queue->purge());
        $this->assertSame([0, 5], [$queue->count(), $queue->stats()->cancelled]);
        $fill();
        $this->assertSame(2, $queue->purge(State::Ready));
        $this->assertSame(1, $queue->purge(State::Reserved));
        $this->assertSame(2, $queue->count());
    }

    public function testAQueueThatIsEmptyAndNotPausedIsForgotten(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a', delay: 60);
        $this->assertFalse($queue->forget());
        $this->assertSame('a', $queue->peek('a')?->id);
        $queue->cancel('a');
        $queue->pause();
        $this->assertFalse($queue->forget());
        $this->assertTrue($queue->isPaused());
        $queue->resume();
        $this->assertTrue($queue->forget());
        $this->assertTrue($queue->forget());
        $this->assertSame([[], 0], [$queue->queues(), $queue->stats()->pushed]);
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

    public function testNumbersOfAQueue(): void
    {
        $queue = $this->queue();
        $queue->push('a', delay: new DateTimeImmutable('-10 seconds'));
        $queue->push('b', delay: 60);
        $queue->push('c', delay: 30);
        $stats = $queue->stats();

        $this->assertSame([2, 1, 0, 0, 3], [$stats->delayed, $stats->ready, $stats->reserved, $stats->buried, $stats->pushed]);
        $this->assertEqualsWithDelta(10.0, $stats->oldestReadyAge, 3.0);
        $this->assertSame($queue->peekDelayed()?->dueAt, $stats->nextDueAt);
        $queue->reserve()?->ack();
        $queue->cancel($queue->peekDelayed()->id);
        $stats = $queue->stats();
        $this->assertSame([1, 0, 3, 1, 1, false, null], [$stats->delayed, $stats->ready, $stats->pushed, $stats->acked, $stats->cancelled, $stats->paused, $stats->oldestReadyAge]);
        $this->assertStringContainsString('delayqueue_jobs{queue="rules",state="delayed"} 1', $stats->toPrometheus());
    }
}
