<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\DuplicateJobException;
use DelayQueue\Laravel\Events\DuplicateKept;
use DelayQueue\Laravel\Events\LeaseLost;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\OnDuplicate;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Laravel\Support\UniqueDeed;
use Illuminate\Contracts\Bus\Dispatcher;
use InvalidArgumentException;
use RuntimeException;

/** Jobs with ids, and the facade that finds them. */
final class IdsTest extends LaravelTestCase
{
    public function testAJobIsCancelledById(): void
    {
        Deed::dispatch('one')->delay(900)->identifiedBy('order-1');
        $this->assertSame(State::Delayed, DelayQueue::find('order-1')->state);
        $this->assertSame(1, DelayQueue::cancel('order-1'));
        $this->assertSame(0, DelayQueue::cancel('order-1'));
        $this->assertNull(DelayQueue::find('order-1'));
    }

    public function testAJobIsFoundInWhateverQueueItIs(): void
    {
        Deed::dispatch('one')->onQueue('orders to close')->delay(900)->identifiedBy('order-2');
        $this->assertTrue(DelayQueue::reschedule('order-2', '1h'));
        $this->assertEqualsWithDelta(microtime(true) + 3600, DelayQueue::find('order-2')->dueAt, 10);
        $this->assertSame(0, DelayQueue::cancel('order-2', 'default'));
        $this->assertSame(1, DelayQueue::cancel(['order-2', 'order-3']));
        $this->assertFalse(DelayQueue::reschedule('order-2', 1));
    }

    public function testTheIdOfAnyJobIsItsUuid(): void
    {
        $id = $this->queue()->later(60, new Deed('one'));
        $this->assertSame($id, json_decode(DelayQueue::find($id)->body, true)['uuid']);
        $this->assertSame(1, DelayQueue::stats()->delayed);
    }

    public function testAJobHasWhatANewJobMayHave(): void
    {
        $wishes = ['headers' => ['tenant' => 'acme'], 'priority' => 7, 'ttr' => 90, 'onDuplicate' => OnDuplicate::Replace];
        Deed::dispatch('one')->identifiedBy('order-1')->queuedWith(...$wishes);
        $job = DelayQueue::find('order-1');
        $this->assertSame([['tenant' => 'acme'], 7, 90.0], [$job->headers, $job->priority, $job->ttr]);
        Deed::dispatch('two')->identifiedBy('order-1')->queuedWith(...$wishes);
        $this->assertStringContainsString('two', DelayQueue::find('order-1')->body);
        // Laravel has words for these.
        Deed::dispatch('three')->identifiedBy('order-3')->queuedWith(maxAttempts: 3, timeout: 5);
        $this->assertSame([0, 0.0], [($job = DelayQueue::find('order-3'))->maxAttempts, $job->timeout]);
    }

    public function testASecondJobOfAnIdFailsLoudly(): void
    {
        Deed::dispatch('one')->identifiedBy('same');
        try {
            Deed::dispatch('two')->identifiedBy('same');
            $this->fail('no exception');
        } catch (DuplicateJobException) {
        }
        try {
            $this->queue()->bulk([new Deed('other'), (new Deed('three'))->identifiedBy('same')]);
            $this->fail('no exception');
        } catch (DuplicateJobException) {
        }
        $this->assertSame(2, $this->queue()->size());
    }

    public function testKeepTellsOfTheJobThatItDidNotQueue(): void
    {
        $kept = $this->listenFor(DuplicateKept::class);
        Deed::dispatch('one')->identifiedBy('same', OnDuplicate::Keep);
        $this->assertCount(0, $kept);
        Deed::dispatch('two')->identifiedBy('same', OnDuplicate::Keep);
        $this->assertSame(['same', 'default'], [$kept[0]->id, $kept[0]->queue]);
        $this->assertStringContainsString('two', $kept[0]->payload);
        $this->assertStringContainsString("job 'same' is in the queue already", $this->log());
        $this->assertSame('one', $this->popName());
    }

    public function testReplaceKeepsTheNewestPayload(): void
    {
        foreach (['d', 'de', 'deb'] as $word) {
            Deed::dispatch($word)->identifiedBy('search', onDuplicate: OnDuplicate::Replace)->delay(0);
        }
        $this->assertSame(1, $this->queue()->size());
        $this->assertSame('deb', $this->popName());
    }

    public function testAnIdStaysTakenForItsTimeAndARetryDoesNotAsk(): void
    {
        $dispatch = static fn (string $word) => Deed::dispatch($word)->identifiedBy('once', OnDuplicate::Keep, unique: '10m')->expiringAfter(60);
        $dispatch('one');
        $job = $this->queue()->pop();
        $body = $job->getRawBody();
        $job->delete();
        $kept = $this->listenFor(DuplicateKept::class);
        $dispatch('two');
        $this->assertCount(1, $kept);
        $this->assertSame(0, $this->queue()->size());
        $this->queue()->pushRaw($body);
        $retried = $this->queue()->pop();
        $this->assertSame($body, $retried->getRawBody());
        $retried->delete();
        DelayQueue::native()->forgetReceipts('once');
        $dispatch('three');
        $this->assertSame('three', $this->popName());
    }

    public function testADebounceRunsAtTheLatestAfterItsLongestWait(): void
    {
        foreach (['d', 'de', 'deb'] as $word) {
            Deed::dispatch($word)->identifiedBy('search', OnDuplicate::Replace, maxWait: 5)->delay(60);
        }
        $this->assertLessThanOrEqual(5.0, DelayQueue::find('search')->dueAt - DelayQueue::native()->now());
        $this->assertSame(1, $this->queue()->size());
    }

    public function testARetryOfAJobDoesNotCollideWithItself(): void
    {
        $this->boot(['bury_failed' => true, 'block_for' => 0]);
        foreach (OnDuplicate::cases() as $onDuplicate) {
            $kept = $this->listenFor(DuplicateKept::class);
            Deed::dispatch('one')->identifiedBy("same-$onDuplicate->value", $onDuplicate);
            $job = $this->queue()->pop();
            $job->release();
            $job = $this->queue()->pop();
            $this->assertSame(2, $job->attempts());
            $job->fail(new RuntimeException('bad'));
            $this->assertSame(State::Buried, DelayQueue::find("same-$onDuplicate->value")->state);
            $this->queue()->pushRaw($job->getRawBody());
            $this->assertSame("same-$onDuplicate->value", $this->queue()->pop()->getJobId());
            $this->assertCount(0, $kept);
        }
    }

    public function testReplacingAWaitingJobKeepsItsTime(): void
    {
        Deed::dispatch('old')->delay(60)->identifiedBy('job');
        $dueAt = DelayQueue::find('job')->dueAt;
        $this->assertTrue(DelayQueue::replace('job', new Deed('new')));
        $this->assertSame($dueAt, DelayQueue::find('job')->dueAt);
        $this->travel(61);
        $this->assertSame('new', $this->popName());
        $this->assertFalse(DelayQueue::replace('absent', new Deed('new')));
    }

    public function testCancellingReleasesAUniqueLock(): void
    {
        UniqueDeed::dispatch('unique')->delay(60)->identifiedBy('first');
        UniqueDeed::dispatch('unique')->identifiedBy('locked out');
        $this->assertNull(DelayQueue::find('locked out'));
        $this->assertSame(1, DelayQueue::cancel('first'));
        UniqueDeed::dispatch('unique')->identifiedBy('second');
        $this->assertNotNull(DelayQueue::find('second'));
    }

    public function testACancelledJobCountsInItsBatch(): void
    {
        $jobs = [(new Deed('a'))->identifiedBy('a'), (new Deed('b'))->identifiedBy('b')];
        $batch = $this->app->make(Dispatcher::class)->batch($jobs)->dispatch();
        DelayQueue::cancel('a');
        $this->assertSame([1, false], [$batch->fresh()->pendingJobs, $batch->fresh()->finished()]);
        $this->queue()->pop()->fire();
        $this->assertTrue($batch->fresh()->finished());
    }

    public function testARunningJobThatIsCancelledIsCountedOnce(): void
    {
        $lost = $this->listenFor(LeaseLost::class);
        $batch = $this->app->make(Dispatcher::class)->batch([(new Deed('a'))->identifiedBy('a'), new Deed('b')])->dispatch();
        $job = $this->queue()->pop();
        $this->assertSame(1, DelayQueue::cancel('a'));
        $job->fire();
        $this->assertSame(1, $batch->fresh()->pendingJobs);
        $this->assertCount(1, $lost);
    }

    public function testTheFacadeNamesAConnectionOfAnotherDriver(): void
    {
        $this->app['config']['queue.default'] = 'redis';
        $this->assertSame('delayqueue', DelayQueue::connection()->getConnectionName());
        $this->expectException(InvalidArgumentException::class);
        DelayQueue::connection('redis');
    }

    private function popName(): string
    {
        return unserialize($this->queue()->pop()->payload()['data']['command'])->name;
    }
}
