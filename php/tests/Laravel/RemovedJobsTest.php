<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use Closure;
use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\JobInfo;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Laravel\Support\Told;
use DelayQueue\Tests\Laravel\Support\UniqueDeed;
use DelayQueue\Tests\Laravel\Support\UniqueLocks;
use Illuminate\Support\Facades\Bus;
use PHPUnit\Framework\Attributes\DataProvider;

/** Jobs that somebody cancels, removes or copies: locks are released, and batches count, once for each job. */
final class RemovedJobsTest extends LaravelTestCase
{
    use UniqueLocks;

    /** @dataProvider everyWayToRemove */
    #[DataProvider('everyWayToRemove')]
    public function testARemovedJobReleasesItsLockAndItsLinksCountInTheirBatch(Closure $remove): void
    {
        $job = static fn (Deed $job, string $id): Deed => $job->onQueue('some')->identifiedBy($id)->delay(60);
        $unique = new UniqueDeed('unique');
        $unique->messageGroup = 'tenant';
        dispatch($job($unique, 'unique'));
        $chain = [$job(new Deed('1'), 'link'), new Deed('2'), new Deed('3')];
        $batch = Bus::batch([$chain, $job(new Deed('4'), 'member')])
            ->then(new Told('then'))->onQueue('some')->dispatch();
        Bus::chain([$job(new Deed('one'), 'chain'), new Deed('two')])->catch(new Told('catch'))->dispatch();
        $remove($this);
        $this->assertSame(0, $this->queue()->size('some'));
        $this->assertUnlocked('unique');
        $now = $batch->fresh();
        $this->assertSame([0, true, 0], [$now->pendingJobs, $now->finished(), $now->failedJobs]);
        $this->assertSame(1, $this->lines('/^told then/'));
        $this->assertSame(1, $this->lines("/^told catch job 'chain' in queue 'some' was cancelled/"));
    }

    /** @return iterable<string, array{Closure(self): void}> */
    public static function everyWayToRemove(): iterable
    {
        $ids = ['unique', 'link', 'member', 'chain'];
        yield 'cancel()' => [static fn () => DelayQueue::cancel($ids)];
        yield 'delayqueue:cancel' => [static fn (self $test) => $test->artisan('delayqueue:cancel', ['id' => $ids])];
        yield 'queue:clear' => [static fn (self $test) => $test->queue()->clear('some')];
        yield 'one by one in the dashboard' => [static function (self $test) use ($ids): void {
            foreach ($ids as $id) {
                $test->click('/job/cancel', ['id' => $id]);
            }
        }];
        yield 'all that are found in the dashboard' => [
            static fn (self $test) => $test->click('/found/cancel', ['state' => 'delayed']),
        ];
        yield 'a group in the dashboard' => [static function (self $test): void {
            $test->click('/group/cancel', ['group' => 'tenant']);
            $test->assertUnlocked('unique');
            $test->assertSame(3, $test->queue()->size('some'), 'jobs of no group stay');
            DelayQueue::cancel(['link', 'member', 'chain']);
        }];
    }

    public function testAJobThatRunsIsNotUnlockedByWhoeverCancelsIt(): void
    {
        UniqueDeed::dispatch('runs', 0, 'return')->identifiedBy('runs');
        $job = $this->queue()->pop();
        DelayQueue::cancel('runs');
        $this->assertLocked('runs');
        $job->fire();
        $this->assertUnlocked('runs');
    }

    public function testAJobThatWasCancelledWhileItRanAndIsToBeTriedAgainHasEnded(): void
    {
        UniqueDeed::dispatch('again')->identifiedBy('again');
        $batch = Bus::batch([(new Deed('member'))->identifiedBy('member'), (new Deed('other'))->delay(60)])->dispatch();
        foreach (['again', 'member'] as $id) {
            $job = $this->queue()->pop();
            $this->assertSame($id, $job->getJobId());
            DelayQueue::cancel($id);
            $job->release(5);
            $job->release(5);
        }
        $this->assertUnlocked('again');
        $this->assertSame(1, $batch->fresh()->pendingJobs);
    }

    public function testAJobThatAWorkerTakesWhileItIsCancelledSettlesItself(): void
    {
        UniqueDeed::dispatch('taken')->identifiedBy('taken');
        $batch = Bus::batch([(new Deed('member'))->identifiedBy('member'), (new Deed('other'))->delay(60)])->dispatch();
        $found = array_map(DelayQueue::find(...), ['taken', 'member']);
        $jobs = [$this->queue()->pop(), $this->queue()->pop()];
        $this->assertSame(2, $this->queue()->cancelFound($this->queue()->native(), ...$found));
        $this->assertLocked('taken');
        $this->assertSame(2, $batch->fresh()->pendingJobs);
        array_map(static fn ($job) => $job->fire(), $jobs);
        $this->assertUnlocked('taken');
        $this->assertSame(1, $batch->fresh()->pendingJobs);
    }

    public function testAJobOfADeadWorkerIsSettledByWhoeverCancelsIt(): void
    {
        UniqueDeed::dispatch('orphan')->identifiedBy('orphan');
        $this->queue()->native()->reserve();
        $this->travel(61);
        DelayQueue::cancel('orphan');
        $this->assertUnlocked('orphan');
    }

    public function testACopyIsAJobOfItsOwn(): void
    {
        $jobs = [(new Deed('a', 0, 'throw once'))->identifiedBy('a'), (new Deed('b'))->delay(3600)->identifiedBy('b')];
        $batch = Bus::batch($jobs)->dispatch();
        Bus::chain([(new Deed('first'))->delay(3600)->identifiedBy('first'), new Deed('second')])->dispatch();
        UniqueDeed::dispatch('unique')->delay(3600)->identifiedBy('unique');
        foreach (['a', 'first', 'unique'] as $id) {
            $this->click('/job/copy', ['id' => $id], 'default', $this->site());
        }
        $this->workUntilEmpty('queue:work');
        $this->assertSame(1, $batch->fresh()->pendingJobs, 'a has run, its copy counts nowhere');
        $this->assertSame([2, 1], [$this->lines('/^end a 2 /'), $this->lines('/^end first/')]);
        $this->assertSame(0, $this->lines('/^begin second/'));
        $this->assertLocked('unique');

        $this->click('/job/copy', ['id' => 'unique'], 'default', $this->site());
        $isCopy = static fn (JobInfo $job): bool => isset($job->headers['dq-copy']);
        $copies = array_filter($this->delayQueue()->list(State::Ready), $isCopy);
        $this->assertCount(1, $copies);
        DelayQueue::cancel(array_values($copies)[0]->id);
        $this->assertLocked('unique');
    }

    public function testAFailedCopyIsRetriedAsAJobOfItsOwn(): void
    {
        $job = (new Deed('hopeless', 0, 'throw'))->identifiedBy('original');
        $job->tries = 1;
        $batch = Bus::batch([$job, (new Deed('b'))->delay(3600)])->allowFailures()->dispatch();
        $this->click('/job/copy', ['id' => 'original'], 'default', $this->site());
        $this->workUntilEmpty('queue:work');
        $failed = $this->app['db']->table('failed_jobs')->pluck('uuid');
        $this->assertCount(2, $failed->unique(), 'a uuid of its own');
        Deed::dispatch('waits')->delay(3600)->identifiedBy('original');
        $this->artisan('queue:retry', ['id' => ['all']], 1);
        $this->assertSame([1, 1], [$this->app['db']->table('failed_jobs')->count(), $this->queue()->pendingSize()]);
        $this->workUntilEmpty('queue:work');
        $this->assertSame(1, $batch->fresh()->failedJobs);
    }

    /** A dashboard that knows nothing of Laravel. */
    private function site(): Handler
    {
        return new Handler($this->queue()->native(), static fn (): Access => Access::Write);
    }

    /** @param array<string, string> $fields */
    private function click(string $path, array $fields, string $queue = 'some', ?Handler $site = null): void
    {
        // As the controller makes it.
        $site ??= new Handler(
            $this->queue()->native(),
            static fn (): Access => Access::Write,
            cancel: $this->queue()->cancelFound(...),
        );
        $headers = ['sec-fetch-site' => 'same-origin', 'host' => 'x'];
        $request = new Request('POST', $path, [], $fields + ['queue' => $queue], $headers);
        self::assertSame(303, $site->handle($request)->status);
    }
}
