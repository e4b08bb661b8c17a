<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\Job;
use DelayQueue\LeaseLostException;
use DelayQueue\State;
use RuntimeException;

/** Operations of the holder of a job, and how it comes back. */
final class JobTest extends QueueCase
{
    public function testABatchHoldsFiveHundredJobsAtMost(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, 501)));
        $this->assertSame([500, 1], [count($queue->reserveMany(8000)), count($queue->reserveMany(8000))]);
    }

    public function testAReservedJobTellsAllAboutItself(): void
    {
        $this->queue()->push(['order' => 1], delay: 5, id: 'a', priority: 7, ttr: 30, maxAttempts: 3, headers: ['tenant' => 'acme', '12' => 'x']);
        $this->travel(6);
        $job = $this->queue()->reserve();

        $this->assertInstanceOf(Job::class, $job);
        $this->assertSame(['a', 'rules', ['order' => 1], '{"order":1}'], [$job->id, $job->queue, $job->payload, $job->body]);
        $this->assertSame([1, 3, 7, 30.0, 1, null], [$job->attempts, $job->maxAttempts, $job->priority, $job->ttr, $job->token, $job->lastError]);
        $this->assertSame(['tenant' => 'acme', 12 => 'x'], $job->headers);
        $this->assertEqualsWithDelta(5.0, $job->dueAt - $job->createdAt, 3.0);
        $this->assertEqualsWithDelta(6.0, $job->reservedAt - $job->createdAt, 3.0);
        $this->assertEqualsWithDelta(30.0, $job->timeLeft(), 3.0);
        $this->assertSame([false, false], [$job->isSettled(), $job->isLost()]);
        $this->assertNull($this->queue()->reserve());
    }

    public function testAnAcknowledgedJobIsGone(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a');
        $job = $queue->reserve();
        $job->ack();

        $this->assertNull($queue->peek('a'));
        $this->assertSame([true, false, 0.0], [$job->isSettled(), $job->isLost(), $job->timeLeft()]);
        foreach (['ack', 'release', 'fail', 'bury', 'touch', 'keepAlive'] as $method) {
            $this->assertSame("LeaseLostException: the lease of job 'a' in queue 'rules' is lost: it is settled already", self::thrown($job->$method(...)));
        }
    }

    public function testALeaseThatIsOverGivesTheJobBackToItsOldPlace(): void
    {
        $queue = $this->queue();
        $queue->push('first', id: 'first', ttr: 60, maxAttempts: 2);
        $queue->push('second');
        $first = $queue->reserve();
        $this->travel(61);

        $info = $queue->peek('first');
        $this->assertSame([State::Ready, 1, 1, 'lease expired'], [$info?->state, $info?->attempts, $info?->timeouts, $info?->lastError]);
        $again = $queue->reserve();
        $this->assertSame(['first', 2, 'lease expired', 2], [$again?->id, $again?->attempts, $again?->lastError, $again?->token]);
        $lost = "LeaseLostException: the lease of job 'first' in queue 'rules' is lost: its time ran out and it was taken back, or it was cancelled";
        $this->assertFalse($first->isLost());
        $this->assertSame($lost, self::thrown($first->ack(...)));
        $this->assertSame([true, false], [$first->isLost(), $first->isSettled()]);
        $this->travel(61);
        $this->assertSame(State::Buried, $queue->peek('first')?->state);
        $this->assertSame(2, $queue->stats()->timedOut);
    }

    public function testATouchBeginsTheLeaseAnew(): void
    {
        $this->queue()->push('a', id: 'a', ttr: 10);
        $job = $this->queue()->reserve();
        $this->travel(9);
        $until = $job->touch();

        $this->assertEqualsWithDelta($this->queue()->peek('a')?->leaseUntil, $until, 0.1);
        $this->assertEqualsWithDelta(10.0, $job->timeLeft(), 3.0);
        $this->travel(9);
        $this->assertSame(State::Reserved, $this->queue()->peek('a')?->state);
        $job->touch('1h');
        $this->travel('50m');
        $this->assertSame(State::Reserved, $this->queue()->peek('a')?->state);
        $job->ack();
    }

    public function testAReleasedJobComesBackWhenItIsToldTo(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a', maxAttempts: 1);
        $queue->reserve()?->release('30s', priority: 3);

        $info = $queue->peek('a');
        $this->assertSame([State::Delayed, 1, 1, 3], [$info?->state, $info?->attempts, $info?->releases, $info?->priority]);
        $this->assertEqualsWithDelta(30.0, $info->dueAt - $info->createdAt, 3.0);
        $this->travel(31);
        $queue->reserve()?->release(new DateTimeImmutable('@1000'));
        $this->assertSame(2, $queue->peek('a')?->attempts);
        $queue->reserve()?->release(countAttempt: false);
        $info = $queue->peek('a');
        $this->assertSame([State::Ready, 2, 2, null], [$info?->state, $info?->attempts, $info?->releases, $info?->lastError]);
    }

    public function testAFailedJobComesBackAfterItsBackoffAndIsBuriedAtLast(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a', maxAttempts: 3, backoff: Backoff::stages('5s 1m'));

        $queue->reserve()?->fail(new RuntimeException('no bank'));
        $info = $queue->peek('a');
        $this->assertSame([State::Delayed, 1, 'RuntimeException: no bank'], [$info?->state, $info?->attempts, strtok((string) $info?->lastError, "\n")]);
        $this->travel(4);
        $this->assertNull($queue->reserve());
        $this->travel(1);
        $queue->reserve()?->fail();
        $this->assertNull($queue->peek('a')?->lastError);
        $this->travel(59);
        $this->assertNull($queue->reserve());
        $this->travel(1);
        $queue->reserve()?->fail('again');
        $info = $queue->peek('a');
        $this->assertSame([State::Buried, 3, 1, 'again'], [$info?->state, $info?->attempts, $info?->buries, $info?->lastError]);
        $this->assertSame(3, $queue->stats()->failed);
    }

    public function testAPayloadMayBeReplacedForTheNextAttempt(): void
    {
        $queue = $this->queue();
        $queue->push(['page' => 1], id: 'a', headers: ['h' => '1']);
        $job = $queue->reserve();
        $job->update(['page' => 2]);
        $this->assertSame(['page' => 1], $job->payload);
        $this->assertSame([['page' => 2], ['h' => '1']], [$queue->peek('a')?->payload, $queue->peek('a')?->headers]);
        $job->update(['page' => 3], []);
        $job->release();

        $again = $queue->reserve();
        $this->assertSame([['page' => 3], '{"page":3}', []], [$again?->payload, $again?->body, $again?->headers]);
        for ($n = 4; $n <= 6; ++$n) {
            $again->update($n);
            $again->release(countAttempt: false);
            $again = $queue->reserve();
            $this->assertSame([$n, 2], [$again?->payload, $again?->attempts]);
        }
    }

    public function testManyJobsAreAcknowledgedTogether(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 4, ['payload' => 'x']));
        $jobs = $queue->reserveMany(4);
        $jobs[1]->ack();
        $queue->cancel($jobs[2]->id);

        $this->assertSame(2, $queue->ackMany(...$jobs, ...$jobs));
        $this->assertSame([true, true], [$jobs[0]->isSettled(), $jobs[2]->isLost()]);
        $this->assertSame([0, 3, 1], [$queue->count(), $queue->stats()->acked, $queue->stats()->cancelled]);
        $this->assertSame(0, $queue->ackMany());
    }
}
