<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DateTimeImmutable;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\OnExpiry;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\Testing;
use RuntimeException;

/** Moments that end a job: $expires and $retryUntil. */
trait MomentRules
{
    private const TOO_LATE = 'too late to be tried again';

    /** @return array<string, callable(QueueInterface): mixed> what would start a job; none is: null, false, 0 or [] */
    private static function starts(): array
    {
        return [
            'reserve' => static fn (QueueInterface $queue) => $queue->reserve(),
            'reserveMany' => static fn (QueueInterface $queue) => $queue->reserveMany(10),
            'reserveJob' => static fn (QueueInterface $queue) => $queue->reserveJob('a'),
            'consumer' => static fn (QueueInterface $queue) => $queue->consumer(),
            'wait' => static fn (QueueInterface $queue) => $queue->wait(0),
            'drain' => static fn (QueueInterface $queue) => $queue->drain(static fn () => null),
        ];
    }

    /** @return array{?State, ?string} */
    private static function end(QueueInterface $queue, string $id = 'a'): array
    {
        return [$queue->peek($id)?->state, $queue->peek($id)?->lastError];
    }

    public function testAJobThatWasNotStartedByThenNeverRuns(): void
    {
        foreach (self::starts() as $name => $start) {
            foreach (['1m', new DateTimeImmutable('@' . (time() + 60 + (int) Testing::offset()))] as $n => $expires) {
                $queue = $this->queue("$name$n");
                $queue->push('a', id: 'a', expires: $expires);
                $queue->push('b', delay: '1m', id: 'b', expires: '1m', onExpiry: OnExpiry::Drop);
                $this->travel('10m');
                $this->assertEmpty($start($queue), $name);
                $this->assertSame([State::Buried, 'expired'], self::end($queue), $name);
                if ($name !== 'reserveJob') {
                    $this->assertNull($queue->peek('b'), $name);
                    $stats = $queue->stats();
                    $this->assertSame([2, 2, 0, 0, 0], [$stats->expired, $stats->pushed, $stats->acked, $stats->failed, $stats->cancelled], $name);
                }
            }
        }
    }

    public function testAJobThatWasInHandInTimeNeverExpiresAlsoWhereTheAttemptDoesNotCount(): void
    {
        foreach ([null, 'no answer'] as $n => $error) {
            $queue = $this->queue("queue$n");
            foreach (OnExpiry::cases() as $onExpiry) {
                $queue->push(1, id: $onExpiry->value, expires: 5, onExpiry: $onExpiry);
                $this->assertNotNull($queue->peek($onExpiry->value)->expiresAt);
                $queue->reserveJob($onExpiry->value)->release(10, countAttempt: false, error: $error);
                $this->assertSame([null, 0], [$queue->peek($onExpiry->value)->expiresAt, $queue->peek($onExpiry->value)->attempts]);
            }
            $this->travel(11);
            $this->assertCount(2, $queue->reserveMany(2), 'it was started, and comes again');
        }
    }

    public function testAReleaseThatDoesNotCountDoesNotPutOffTheEndOfTheRetries(): void
    {
        $queue = $this->queue();
        $queue->push(1, id: 'a', retryUntil: 5);
        $queue->reserve()->release(4, countAttempt: false);
        $this->travel(4.1);
        $queue->reserve()->release(4, countAttempt: false);
        $this->travel(4.1);
        $this->assertNull($queue->reserve());
        $this->assertSame([State::Buried, self::TOO_LATE], self::end($queue));
    }

    public function testAJobForAMomentThatHasPassedFallsDueWithThePush(): void
    {
        $queue = $this->queue();
        $queue->push(1, new DateTimeImmutable('2020-01-01'), 'a', expires: 60);
        $this->assertEqualsWithDelta($queue->now() + 60, $queue->peek('a')->expiresAt, 5);
        $this->assertSame(1577836800.0, $queue->peek('a')->dueAt);
        $this->assertNotNull($queue->reserve());
    }

    public function testTheTimeRunsFromTheFirstDueTime(): void
    {
        $queue = $this->queue();
        $queue->push('a', delay: '1h', id: 'a', expires: '1m');
        $info = $queue->peek('a');
        $this->assertEqualsWithDelta(60.0, $info->expiresAt - $info->dueAt, 0.001);
        $this->assertSame([null, null], [$info->retryUntil, $info->firstDueAt]);
        $this->travel('1h');
        $job = $queue->reserve();
        $job->fail('boom');
        $this->travel('1h');

        $this->assertSame(2, $queue->reserve()?->attempts, 'it was started in time');
        $this->assertEqualsWithDelta($info->dueAt, $queue->peek('a')?->firstDueAt, 0.001);
    }

    public function testAKickLiftsBothMoments(): void
    {
        $queue = $this->patient();
        $queue->push('a', id: 'a', expires: '1m');
        $queue->push('b', id: 'b', retryUntil: '1m');
        $this->travel('1h');
        $this->assertNull($queue->reserve());
        $this->assertSame(2, $queue->kick(10));
        $this->assertSame([null, null], [$queue->peek('a')?->expiresAt, $queue->peek('b')?->retryUntil]);
        $this->travel('1h');

        $this->assertSame(2, $queue->drain(static fn () => throw new RuntimeException('boom')));
        $this->assertSame([State::Delayed, State::Delayed], [$queue->peek('a')?->state, $queue->peek('b')?->state]);
    }

    public function testABuriedOneIsTakenOnPurpose(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a', expires: '1m');
        $this->travel('1h');
        $this->assertNull($queue->reserve());

        $this->assertSame('a', $queue->reserveJob('a')?->id);
    }

    public function testARescheduledJobThatNeverRanHasItsTimeAnew(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a', expires: '1m');
        $this->travel('1h');
        $this->assertNull($queue->reserve());
        $this->assertTrue($queue->reschedule('a', '1h'));
        $this->travel('1h');

        $this->assertSame(1, $queue->reserve()?->attempts);
    }

    public function testAnAttemptThatWouldComeTooLateIsNotMade(): void
    {
        foreach (self::starts() as $name => $start) {
            $queue = $this->queue($name);
            $queue->push('a', id: 'a', retryUntil: '1m');
            $this->travel('10m');
            $this->assertEmpty($start($queue), $name);
            $this->assertSame([State::Buried, self::TOO_LATE], self::end($queue), $name);
            $this->assertSame(1, $queue->stats()->expired, $name);
        }
    }

    public function testAFailureBuriesWhereTheNextAttemptWouldComeTooLate(): void
    {
        foreach (['boom' => 'boom', '' => self::TOO_LATE] as $reason => $expected) {
            $queue = $this->patient();
            $queue->purge();
            $queue->push('a', id: 'a', retryUntil: 15);
            $queue->reserve()?->fail($reason);
            $this->assertSame(State::Delayed, $queue->peek('a')?->state);
            $this->travel(11);
            $queue->reserve()?->fail($reason);
            $this->assertSame([State::Buried, $expected], self::end($queue));
        }
        $this->assertSame([4, 0], [$queue->stats()->failed, $queue->stats()->expired]);
    }

    public function testAReleaseThatCountsBuriesToo(): void
    {
        $queue = $this->queue();
        foreach (['in time', 'too late', 'uncounted'] as $id) {
            $queue->push($id, id: $id, retryUntil: '1m');
        }
        [$inTime, $tooLate, $uncounted] = $queue->reserveMany(3);
        $inTime->release(30);
        $tooLate->release(90);
        $uncounted->release(90, countAttempt: false);

        $this->assertSame([State::Delayed, null], self::end($queue, 'in time'));
        $this->assertSame([State::Buried, self::TOO_LATE], self::end($queue, 'too late'));
        $this->assertSame([State::Delayed, null], self::end($queue, 'uncounted'));
        $info = $queue->peek('too late');
        $this->assertSame([1, 1, 1], [$info?->attempts, $info?->releases, $info?->buries]);
    }

    public function testALeaseThatIsOverBuriesToo(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a', ttr: 60, retryUntil: 30);
        $queue->reserve();
        $this->travel(61);

        $this->assertNull($queue->reserve());
        $this->assertStringStartsWith('lease expired, held by ', (string) $queue->peek('a')?->lastError);
        $this->assertSame([1, 0], [$queue->stats()->timedOut, $queue->stats()->expired]);
    }

    public function testALoopTellsThatAReleasedOrFailedJobWasBuried(): void
    {
        $queue = $this->patient();
        $queue->push('released', id: 'released', retryUntil: 5);
        $queue->push('failed', id: 'failed', retryUntil: 5);
        $heard = [];
        foreach ([Event::Released, Event::Failed, Event::Buried] as $event) {
            $queue->on($event, static function (Event $event, ?Job $job) use (&$heard): void {
                $heard[] = "$event->value $job?->id";
            });
        }
        $queue->drain(static fn (Job $job) => throw $job->id === 'failed' ? new RuntimeException('boom') : new Release(60, 'later'));

        $this->assertSame(['buried released', 'failed failed', 'buried failed'], $heard);
        $this->assertSame([State::Buried, 'later'], self::end($queue, 'released'));
    }

    public function testAReserveLooksBehindLateJobs(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => "late $n", 'expires' => 1, 'priority' => [5, 1024][$n % 2]], range(1, 40)));
        $this->travel(60);
        $queue->pushMany([['payload' => 'first'], ['payload' => 'second'], ['payload' => 'urgent', 'priority' => 5]]);

        $this->assertSame(['urgent', 'first', 'second'], self::served($queue));
        $this->assertSame([40, 40], [$queue->stats()->expired, $queue->count(State::Buried)]);
    }
}
