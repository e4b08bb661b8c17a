<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DateInterval;
use DelayQueue\Laravel\Events\LeaseLost;
use DelayQueue\Laravel\Job;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\EncryptedDeed;
use DelayQueue\Tests\Laravel\Support\Journal;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use Illuminate\Queue\Events\JobQueued;
use Illuminate\Queue\Events\JobQueueing;
use Illuminate\Queue\Jobs\InspectedJob;
use Illuminate\Support\Carbon;
use Illuminate\Support\Facades\Queue;
use Illuminate\Support\Str;
use RuntimeException;

/** Laravel's contracts of a queue and its jobs. */
final class QueueTest extends LaravelTestCase
{
    public function testAJobIsPushedPoppedAndDeleted(): void
    {
        $id = $this->queue()->push(new Deed('one'));
        $job = $this->queue()->pop();

        $this->assertInstanceOf(Job::class, $job);
        $this->assertSame([$id, $id, 1, 'default', 'delayqueue'], [$job->getJobId(), $job->uuid(), $job->attempts(), $job->getQueue(), $job->getConnectionName()]);
        $this->assertSame(Deed::class, $job->resolveName());
        $this->assertNull($this->queue()->pop());
        $job->fire();
        $this->assertTrue($job->isDeleted());
        $this->assertSame(0, $this->queue()->size());
        $this->assertSame(1, $this->lines('/^end one 1 /'));
    }

    public function testAPayloadIsStoredByteForByte(): void
    {
        $payload = '{"uuid":"u-1", "job":"x@y","data":{"list":[],"big":12345678901234567890,"text":"\u00e9é"}}';
        $this->assertSame('u-1', $this->queue()->pushRaw($payload));
        $this->assertSame($payload, $this->queue()->pop()->getRawBody());
    }

    public function testARawPayloadWithWishesOfItsDispatchKeepsItsNumbers(): void
    {
        $rest = '"uuid":"u-2","id":12345678901234567890,"price":1.10,"data":{}';
        $this->queue()->pushRaw('{"delayqueue":{"unique":"10m","group":"g"},' . $rest . '}');
        $job = $this->queue()->native()->peek('u-2');
        $this->assertSame('{"delayqueue":{"group":"g"},' . $rest . '}', $job?->body);
        $this->assertSame('g', $job?->group);
    }

    public function testDelaysOfEveryFormAreKept(): void
    {
        $queue = $this->queue();
        $ids = [
            $queue->later(90, new Deed('int')),
            $queue->later(new DateInterval('PT90S'), new Deed('interval')),
            $queue->later(Carbon::now()->addSeconds(90), new Deed('moment')),
        ];
        foreach ($ids as $id) {
            $this->assertEqualsWithDelta(microtime(true) + 90, $queue->find($id)->dueAt, 1.5);
        }
        $this->assertSame([3, 0, 3], [$queue->size(), $queue->pendingSize(), $queue->delayedSize()]);
        $this->assertNull($queue->pop());
        $this->assertNull($queue->creationTimeOfOldestPendingJob());
    }

    public function testDelaysThatHavePassedAreDueNowTheOldestFirst(): void
    {
        $queue = $this->queue();
        $queue->later(-10, new Deed('b'));
        $queue->later(-300, new Deed('a'));
        $past = new DateInterval('PT5S');
        $past->invert = 1;
        $queue->later($past, new Deed('c'));

        $names = [];
        while ($job = $queue->pop()) {
            $names[] = unserialize($job->payload()['data']['command'])->name;
        }
        $this->assertSame(['a', 'b', 'c'], $names);
    }

    public function testReleasedJobsComeBackWithTheirAttemptsCounted(): void
    {
        $this->queue()->push(new Deed('again'));
        $this->queue()->pop()->release();
        $job = $this->queue()->pop();
        $this->assertSame(2, $job->attempts());
        $job->release(60);
        $this->assertSame(1, $this->queue()->delayedSize());
        $this->assertTrue($job->isReleased());
    }

    public function testAReleaseForLaterNeedNotUseUpAnAttempt(): void
    {
        $this->queue()->push(new Deed('patient'));
        $this->queue()->pop()->release(0, countAttempt: false);
        $this->assertSame(1, $this->queue()->pop()->attempts());
    }

    public function testAReleaseAfterTheLeaseChangesNothingAndIsTold(): void
    {
        $lost = $this->listenFor(LeaseLost::class);
        $id = $this->queue()->push(new Deed('slow'));
        $late = $this->queue()->pop();
        $this->travel(61);
        $other = $this->queue()->pop();
        $late->release();
        $late->delete();

        $this->assertSame([1, 0], [$this->queue()->reservedSize(), $this->queue()->pendingSize()]);
        $this->assertSame($id, $lost[0]->job->getJobId());
        $this->assertStringContainsString($id, $this->log());
        $this->assertSame(2, $other->attempts());
        $other->delete();
        $this->assertSame(0, $this->queue()->size());
    }

    public function testSizesCountByStateAndClearLeavesTheBuried(): void
    {
        $queue = $this->queue();
        $queue->push(new Deed('held'));
        $queue->pop();
        $queue->push(new Deed('waiting'));
        $queue->later(60, new Deed('later'));
        $queue->push(new Deed('buried'));
        $queue->native()->reserve();
        $queue->native()->reserve()->bury();

        $this->assertSame([3, 0, 1, 2], [$queue->size(), $queue->pendingSize(), $queue->delayedSize(), $queue->reservedSize()]);
        $this->assertSame(3, $queue->clear('default'));
        $this->assertSame([0, 1], [$queue->size(), $queue->native()->count(State::Buried)]);
    }

    public function testTheAgeOfTheOldestPendingJobIsKnown(): void
    {
        $this->queue()->push(new Deed('old'));
        $this->assertEqualsWithDelta(time(), $this->queue()->creationTimeOfOldestPendingJob(), 10);
    }

    public function testJobsCanBeInspectedWhereLaravelKnowsHow(): void
    {
        $this->queue()->push(new Deed('one'), '', 'inspected');
        $this->queue()->later(60, new Deed('two'), '', 'inspected too');
        if (!class_exists(InspectedJob::class)) {
            $this->expectException(\BadMethodCallException::class);
        }
        $this->assertSame(Deed::class, $this->queue()->pendingJobs('inspected')->first()->name);
        $this->assertCount(1, $this->queue()->allDelayedJobs());
        $this->assertSame(2, $this->queue()->totalSize());
    }

    public function testManyJobsArePushedTogetherWithTheirEventsAndDelays(): void
    {
        $queued = $this->listenFor(JobQueued::class);
        $queueing = $this->listenFor(JobQueueing::class);
        $jobs = array_map(static fn (int $n): Deed => new Deed("job $n"), range(1, 100));
        $jobs[] = (new Deed('later'))->delay(60);
        $this->queue()->bulk($jobs);

        $this->assertSame([100, 1], [$this->queue()->pendingSize(), $this->queue()->delayedSize()]);
        $this->assertCount(101, $queued);
        $this->assertContains(count($queueing), [0, 101], 'Laravel 8 has no such event');
        $this->assertNotNull($this->queue()->find($queued[0]->id));
    }

    public function testTwoJobsOfOneUuidAreTwoJobs(): void
    {
        Str::createUuidsUsing(static fn (): string => '11111111-2222-4333-8444-555555555555');
        try {
            $this->queue()->push(new Deed('one'));
            $this->queue()->push(new Deed('two'));
            $this->queue()->bulk([new Deed('three'), new Deed('four')]);
        } finally {
            Str::createUuidsNormally();
        }
        $this->assertSame(4, $this->queue()->size());
    }

    public function testQueuesMayHaveAnyName(): void
    {
        foreach (['{other}', 'a b', 'grüße', '..', '..7b', '{', '...', 'a..2e'] as $name) {
            $this->queue()->push(new Deed($name), '', $name);
            $this->assertSame(1, $this->queue()->size($name), $name);
            $this->assertSame($name, $this->queue()->pop($name)->getQueue());
        }
        $this->assertCount(8, $this->queue()->allQueues());
    }

    public function testAQueueMayBeNamedByAnEnum(): void
    {
        $this->queue()->push(new Deed('one'), '', State::Ready);
        $this->assertSame(1, $this->queue()->size('ready'));
    }

    public function testJobsAfterACommitWaitForIt(): void
    {
        $this->boot(['after_commit' => true, 'block_for' => 0]);
        $database = $this->app['db']->connection();
        $database->transaction(function (): void {
            $this->queue()->push(new Deed('one'));
            $this->queue()->bulk([new Deed('two'), (new Deed('three'))->delay(60)]);
            $this->assertSame(0, $this->queue()->size());
        });
        $this->assertSame([2, 1], [$this->queue()->pendingSize(), $this->queue()->delayedSize()]);

        $database->beginTransaction();
        $this->queue()->push(new Deed('never'));
        $database->rollBack();
        $this->assertSame(3, $this->queue()->size());
    }

    public function testEncryptedJobsAreUnreadableInRedisAndRun(): void
    {
        EncryptedDeed::dispatch('secret-name');
        $job = $this->queue()->pop();
        $this->assertStringNotContainsString('secret-name', $job->getRawBody());
        $job->fire();
        $this->assertSame(1, $this->lines('/^end secret-name /'));
    }

    public function testAFailedJobIsGoneUnlessItIsToBeBuried(): void
    {
        $this->queue()->push(new Deed('one'));
        $this->queue()->pop()->fail(new RuntimeException('no luck'));
        $this->assertSame([0, 0], [$this->queue()->size(), $this->queue()->native()->count()]);

        $this->boot(['bury_failed' => true, 'block_for' => 0]);
        $id = $this->queue()->push(new Deed('two'));
        $job = $this->queue()->pop();
        $job->fail(new RuntimeException('no luck'));
        $info = $this->queue()->find($id);
        $this->assertSame([State::Buried, 'RuntimeException: no luck'], [$info->state, strtok((string) $info->lastError, "\n")]);
        $this->assertTrue($job->hasFailed() && $job->isDeleted());
        $this->assertSame($id, $this->queue()->pushRaw($info->body), 'a retry takes the place of the buried job');
        $this->assertSame([1, 0], [$this->queue()->pendingSize(), $this->queue()->native()->count(State::Buried)]);
    }

    public function testALeaseOutlastsItsJobWhereThereIsNoHeartbeat(): void
    {
        $job = new Deed('long');
        $job->timeout = 600;
        $this->assertSame(60.0, $this->queue()->find($this->queue()->push($job))->ttr);
        $this->boot(['heartbeat' => false, 'block_for' => 0]);
        $this->assertSame(610.0, $this->queue()->find($this->queue()->push($job))->ttr);
        $this->boot(['retry_after' => null, 'block_for' => 0]);
        $this->assertSame(30 * 86400.0, $this->queue()->find($this->queue()->push(new Deed('for ever')))->ttr);
    }

    public function testCarbonsTestTimeMovesTheQueue(): void
    {
        Deed::dispatch('later')->delay(now()->addHour());
        $this->assertNull($this->queue()->pop());
        Carbon::setTestNow(Carbon::now()->addMinutes(61));
        $this->assertNotNull($job = $this->queue()->pop());
        $job->release(60);
        $this->assertNull($this->queue()->pop());
        Carbon::setTestNow(Carbon::now()->addMinutes(2));
        $this->assertSame(2, $this->queue()->pop()->attempts());
        Carbon::setTestNow();
        Deed::dispatch('now');
        $this->assertSame(1, $this->queue()->pop()->attempts());
    }

    public function testTheFakeQueueIsUntouched(): void
    {
        Queue::fake();
        Deed::dispatch('faked')->identifiedBy('an-id');
        Queue::assertPushed(Deed::class, 1);
        $this->assertSame(0, $this->delayQueue()->count());
    }

    public function testAJobMayBeGivenAPriority(): void
    {
        Deed::dispatch('second');
        Deed::dispatch('first')->withPriority(1)->leasedFor(5);
        $job = $this->queue()->pop();
        $this->assertSame([1, 5.0], [$job->native()->priority, $job->native()->ttr]);
        $this->assertSame([], Journal::lines());
    }
}
