<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use Closure;
use DelayQueue\Dashboard\Access;
use DelayQueue\Dashboard\Handler;
use DelayQueue\Dashboard\Request;
use DelayQueue\DuplicateJobException;
use DelayQueue\JobInfo;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\Laravel\JobExpiredException;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\PayloadException;
use DelayQueue\QueueFullException;
use DelayQueue\RateLimited;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Customer;
use DelayQueue\Tests\Laravel\Support\CustomerDeed;
use DelayQueue\Tests\Laravel\Support\CustomerDuty;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Laravel\Support\Told;
use DelayQueue\Tests\Laravel\Support\UniqueDeed;
use DelayQueue\Tests\Laravel\Support\UntilProcessingDeed;
use Illuminate\Database\Schema\Blueprint;
use Illuminate\Queue\Events\JobFailed;
use Illuminate\Support\Facades\Bus;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;
use ValueError;

/** Jobs that end without their handler: their lock is released, their batch counts them, their chain calls catch(). */
final class EndsTest extends LaravelTestCase
{
    /** @return array<string, array{string}> */
    public static function workers(): array
    {
        return ['queue:work' => ['queue:work'], 'delayqueue:work' => ['delayqueue:work']];
    }

    public function testAJobThatIsKeptOutReleasesItsLockAndCallsCatchOfItsChain(): void
    {
        Deed::dispatch('waits')->delay(60)->identifiedBy('taken');
        UniqueDeed::dispatch('kept out')->identifiedBy('taken', OnDuplicate::Keep);
        $this->assertUnlocked('kept out');
        $first = (new Deed('one'))->identifiedBy('taken', OnDuplicate::Keep);
        Bus::chain([$first, new Deed('two')])->catch(new Told('catch'))->dispatch();
        $this->assertSame(1, $this->lines("/^told catch .*'taken'/"));
    }

    public function testAJobThatIsRefusedReleasesItsLock(): void
    {
        Deed::dispatch('waits')->delay(60)->identifiedBy('taken');
        $this->assertRefused(static fn () => UniqueDeed::dispatch('refused')->identifiedBy('taken'));
        $this->assertUnlocked('refused');
        $this->queue()->native()->reserveJob('taken');
        $replace = static fn () => UniqueDeed::dispatch('refused')->identifiedBy('taken', OnDuplicate::Replace);
        $this->assertRefused($replace);
        $this->assertUnlocked('refused');
    }

    public function testALinkThatIsRefusedEndsItsChainAndNotTheJobBeforeIt(): void
    {
        Deed::dispatch('waits')->delay(60)->identifiedBy('taken');
        $refused = (new Deed('two'))->identifiedBy('taken');
        Bus::chain([new Deed('one'), $refused, new Deed('three')])->catch(new Told('catch'))->dispatch();
        $this->work('queue:work');
        $this->assertSame([1, 0], [$this->lines('/^begin one/'), $this->lines('/^failed/')]);
        $this->assertSame(1, $this->lines("/^told catch .*'taken'/"));
        $this->assertSame([0, 1], [$this->app['db']->table('failed_jobs')->count(), $this->queue()->size()]);
        $this->assertStringContainsString("'taken'", $this->log());
    }

    public function testAJobThatIsTooLargeReleasesItsLock(): void
    {
        $this->boot(['block_for' => 0, 'options' => ['maxPayload' => 5000]]);
        $job = static fn (): UniqueDeed => new UniqueDeed('large', end: str_repeat('x', 6000));
        for ($i = 0; $i < 2; ++$i) {
            try {
                dispatch($job());
                $this->fail('no exception');
            } catch (PayloadException) {
                $this->addToAssertionCount(1);
            }
        }
    }

    public function testTheLockStaysWithTheJobThatIsInTheQueue(): void
    {
        UniqueDeed::dispatch('unique')->delay(60)->identifiedBy('id');
        foreach ([OnDuplicate::Keep, OnDuplicate::Replace] as $onDuplicate) {
            $this->queue()->push((new UniqueDeed('unique'))->identifiedBy('id', $onDuplicate));
            $this->assertLocked('unique');
        }
        $this->assertRefused(fn () => $this->queue()->push((new UniqueDeed('unique'))->identifiedBy('id')));
        $this->assertLocked('unique');
    }

    public function testAJobThatIsReplacedReleasesItsLockAndCountsInItsBatch(): void
    {
        UniqueDeed::dispatch('displaced')->delay(60)->identifiedBy('id');
        Deed::dispatch('newer')->delay(60)->identifiedBy('id', OnDuplicate::Replace);
        $this->assertUnlocked('displaced');

        UniqueDeed::dispatch('replaced')->delay(60)->identifiedBy('other');
        $this->assertTrue(DelayQueue::replace('other', new Deed('newer')));
        $this->assertUnlocked('replaced');

        $batch = Bus::batch([(new Deed('a'))->delay(60)->identifiedBy('a'), (new Deed('b'))->delay(60)])->dispatch();
        $this->queue()->bulk([(new Deed('newer'))->identifiedBy('a', OnDuplicate::Replace), new Deed('more')]);
        $this->assertSame(1, $batch->fresh()->pendingJobs);
    }

    public function testAFailedJobThatIsReplacedHasReleasedItsLockBefore(): void
    {
        $this->boot(['bury_failed' => true, 'block_for' => 0]);
        UniqueDeed::dispatch('unique')->identifiedBy('buried');
        $this->queue()->pop()->fail(new RuntimeException('bad'));
        UniqueDeed::dispatch('unique')->delay(60)->identifiedBy('second');
        Deed::dispatch('newer')->delay(60)->identifiedBy('buried', OnDuplicate::Replace);
        $this->assertLocked('unique');
    }

    public function testARunReleasesALockUntilProcessingOnce(): void
    {
        UntilProcessingDeed::dispatch('once', 0, 'release')->identifiedBy('first');
        $this->queue()->pop()->fire();
        UntilProcessingDeed::dispatch('once')->delay(60)->identifiedBy('second');
        DelayQueue::cancel('first');
        UntilProcessingDeed::dispatch('once')->identifiedBy('third');
        $this->assertNull(DelayQueue::find('third'), 'the second job has the lock');
        DelayQueue::cancel('second');
        UntilProcessingDeed::dispatch('once')->identifiedBy('third');
        $this->assertNotNull(DelayQueue::find('third'));
    }

    /** @dataProvider workers */
    #[DataProvider('workers')]
    public function testAJobThatExpiresFailsWhereItsRunWouldBegin(string $worker): void
    {
        $failed = $this->listenFor(JobFailed::class);
        UniqueDeed::dispatch('late')->expiringAfter(60);
        $batch = Bus::batch([(new Deed('member'))->expiringAfter(60)])->catch(new Told('catch'))->dispatch();
        Bus::chain([(new Deed('first'))->expiringAfter(60), new Deed('second')])->catch(new Told('catch'))->dispatch();
        $this->travel(61);
        $this->work($worker);
        $this->assertSame(3, $this->lines('/^failed (late|member|first) .* was not started in time/'));
        $this->assertSame(0, $this->lines('/^begin/'));
        $this->assertSame(2, $this->lines('/^told catch .*was not started in time/'), 'of the batch and of the chain');
        $this->assertCount(3, $failed);
        $this->assertInstanceOf(JobExpiredException::class, $failed[0]->exception);
        $this->assertSame(3, $this->app['db']->table('failed_jobs')->count());
        $this->assertUnlocked('late');
        $this->assertSame(1, $batch->fresh()->failedJobs);
        $this->artisan('queue:retry', ['id' => ['all']]);
        $this->travel(600);
        $this->work($worker);
        $this->assertSame(3, $this->lines('/^end (late|member|first) /'), 'a retry has all the time');
    }

    /** @dataProvider workers */
    #[DataProvider('workers')]
    public function testAJobThatIsDroppedWhenItExpiresCountsAsDone(string $worker): void
    {
        UniqueDeed::dispatch('late')->expiringAfter(60, OnExpiry::Drop);
        $member = (new Deed('member'))->expiringAfter('1m', OnExpiry::Drop);
        $batch = Bus::batch([$member])->then(new Told('then'))->dispatch();
        $this->travel(61);
        $this->work($worker);
        $this->assertUnlocked('late');
        $this->assertTrue($batch->fresh()->finished());
        $this->assertSame(1, $this->lines('/^told then/'));
        $this->assertSame([0, 0], [$this->lines('/^(begin|failed)/'), $this->app['db']->table('failed_jobs')->count()]);
    }

    public function testAJobThatWasStartedInTimeMayComeAgainLate(): void
    {
        $job = (new Deed('long'))->expiringAfter(60);
        $this->queue()->push($job);
        $this->travel(59);
        $started = $this->queue()->pop();
        $started->fire();
        $this->queue()->push((new Deed('held', 0, 'rate limit'))->expiringAfter(60));
        $held = $this->queue()->pop();
        try {
            $held->fire();
        } catch (RateLimited) {
            $held->release(0, countAttempt: false);
        }
        $this->travel(600);
        $again = $this->queue()->pop();
        $this->assertSame(1, $again->attempts());
        try {
            $again->fire();
        } catch (RateLimited) {
        }
        $this->assertSame(2, $this->lines('/^begin held/'));
    }

    public function testAnExpiryThatIsNoTimeIsRefusedAtTheDispatch(): void
    {
        $this->expectException(ValueError::class);
        $this->queue()->push((new Deed('one'))->expiringAfter('soon'));
    }

    /** @dataProvider workers */
    #[DataProvider('workers')]
    public function testAJobWhoseModelIsGoneReleasesItsLockAndCountsInItsBatch(string $worker): void
    {
        $customer = $this->customer();
        CustomerDeed::dispatch($customer);
        $batch = Bus::batch([new CustomerDeed($customer), [new CustomerDeed($customer), new Deed('link')]])->dispatch();
        $duties = Bus::batch([new CustomerDuty($customer)])->allowFailures()->dispatch();
        CustomerDuty::dispatch($customer);
        $customer->delete();
        $this->work($worker);
        $this->assertSame([true, 0], [$batch->fresh()->finished(), $batch->fresh()->pendingJobs]);
        $this->assertSame(1, $duties->fresh()->failedJobs);
        foreach ([CustomerDeed::class, CustomerDuty::class] as $class) {
            $class::dispatch($customer);
            $this->assertSame(1, $this->queue()->clear(), "$class is not locked");
        }
    }

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

    public function testMembersWhoseIdsAreTakenCountInTheirBatch(): void
    {
        Deed::dispatch('waits')->delay(3600)->identifiedBy('taken');
        $kept = (new Deed('kept out'))->identifiedBy('taken', OnDuplicate::Keep);
        $batch = Bus::batch([new Deed('a'), $kept, new Deed('c')])->then(new Told('then'))->dispatch();
        $this->work('queue:work');
        $this->assertTrue($batch->fresh()->finished());
        $this->assertSame(1, $this->lines('/^told then 3 jobs, 0 pending, 0 failed/'));

        $refused = static fn (string $name): Deed => (new Deed($name))->identifiedBy('taken');
        $batch = Bus::batch([new Deed('d'), $refused('e'), new Deed('f'), $refused('g'), new Deed('h')])
            ->allowFailures()->catch(new Told('catch'))->finally(new Told('finally'))->dispatch();
        $this->assertSame([5, 5, 2], [$batch->totalJobs, $batch->pendingJobs, $batch->failedJobs]);
        $batch->add([$refused('i'), new Deed('j')]);
        $this->work('queue:work');
        $now = $batch->fresh();
        $this->assertSame([7, 3, 3], [$now->totalJobs, $now->pendingJobs, $now->failedJobs]);
        $this->assertSame(4, $this->lines('/^end [dfhj] /'));
        $this->assertSame(3, $this->lines('/^failed [egi] /'));
        $this->assertSame(1, $this->lines('/^told catch/'));

        DelayQueue::cancel('taken');
        $this->artisan('queue:retry-batch', ['id' => $batch->id]);
        $this->assertSame(2, $this->app['db']->table('failed_jobs')->count(), 'one of three has the id now');
    }

    public function testBulkQueuesAllButTheJobsWhoseIdsAreTaken(): void
    {
        Deed::dispatch('waits')->delay(3600)->identifiedBy('taken');
        $refused = static fn (): Deed => (new Deed('refused'))->identifiedBy('taken');
        $jobs = [new Deed('a'), $refused(), new Deed('b'), $refused(), new Deed('c')];
        $this->assertRefused(fn () => $this->queue()->bulk($jobs));
        $this->assertSame(3, $this->queue()->pendingSize());
    }

    public function testABatchThatRedisTakesInPartIsTakenBack(): void
    {
        $this->boot(['block_for' => 0, 'options' => ['capacity' => 600]]);
        $jobs = array_map(static fn (int $n): Deed => new Deed("job $n"), range(1, 601));
        try {
            Bus::batch($jobs)->dispatch();
            $this->fail('no exception');
        } catch (QueueFullException) {
        }
        $this->assertSame([0, 0], [$this->queue()->size(), $this->app['db']->table('job_batches')->count()]);
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
        $this->work('queue:work');
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
        $this->work('queue:work');
        $failed = $this->app['db']->table('failed_jobs')->pluck('uuid');
        $this->assertCount(2, $failed->unique(), 'a uuid of its own');
        Deed::dispatch('waits')->delay(3600)->identifiedBy('original');
        $this->artisan('queue:retry', ['id' => ['all']], 1);
        $this->assertSame([1, 1], [$this->app['db']->table('failed_jobs')->count(), $this->queue()->pendingSize()]);
        $this->work('queue:work');
        $this->assertSame(1, $batch->fresh()->failedJobs);
    }

    private function assertLocked(string $name): void
    {
        UniqueDeed::dispatch($name)->onQueue('probe')->delay(60)->identifiedBy("probe-$name");
        self::assertNull(DelayQueue::find("probe-$name"), "$name is locked");
    }

    private function assertUnlocked(string $name): void
    {
        UniqueDeed::dispatch($name)->onQueue('probe')->delay(60)->identifiedBy("probe-$name");
        self::assertSame(1, DelayQueue::cancel("probe-$name"), "$name is not locked");
    }

    /** @param Closure(): mixed $dispatch */
    private function assertRefused(Closure $dispatch): void
    {
        try {
            $dispatch();
        } catch (DuplicateJobException) {
            $this->addToAssertionCount(1);

            return;
        }
        self::fail('no exception');
    }

    private function work(string $command): void
    {
        $this->artisan($command, ['--stop-when-empty' => true, '--sleep' => 0, '--tries' => 1]);
    }

    private function customer(): Customer
    {
        $schema = $this->app['db']->connection()->getSchemaBuilder();
        $schema->create('customers', static fn (Blueprint $table) => $table->id());
        $customer = new Customer();
        $customer->save();

        return $customer;
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
