<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use Closure;
use DelayQueue\DuplicateJobException;
use DelayQueue\Laravel\Facades\DelayQueue;
use DelayQueue\Laravel\JobExpiredException;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\PayloadException;
use DelayQueue\QueueFullException;
use DelayQueue\RateLimited;
use DelayQueue\Tests\Laravel\Support\Customer;
use DelayQueue\Tests\Laravel\Support\CustomerDeed;
use DelayQueue\Tests\Laravel\Support\CustomerDuty;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Laravel\Support\Told;
use DelayQueue\Tests\Laravel\Support\UniqueDeed;
use DelayQueue\Tests\Laravel\Support\UniqueLocks;
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
    use UniqueLocks;

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
        $this->workUntilEmpty('queue:work');
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
        $this->workUntilEmpty($worker);
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
        $this->workUntilEmpty($worker);
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
        $this->workUntilEmpty($worker);
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
        $this->workUntilEmpty($worker);
        $this->assertSame([true, 0], [$batch->fresh()->finished(), $batch->fresh()->pendingJobs]);
        $this->assertSame(1, $duties->fresh()->failedJobs);
        foreach ([CustomerDeed::class, CustomerDuty::class] as $class) {
            $class::dispatch($customer);
            $this->assertSame(1, $this->queue()->clear(), "$class is not locked");
        }
    }

    public function testMembersWhoseIdsAreTakenCountInTheirBatch(): void
    {
        Deed::dispatch('waits')->delay(3600)->identifiedBy('taken');
        $kept = (new Deed('kept out'))->identifiedBy('taken', OnDuplicate::Keep);
        $batch = Bus::batch([new Deed('a'), $kept, new Deed('c')])->then(new Told('then'))->dispatch();
        $this->workUntilEmpty('queue:work');
        $this->assertTrue($batch->fresh()->finished());
        $this->assertSame(1, $this->lines('/^told then 3 jobs, 0 pending, 0 failed/'));

        $refused = static fn (string $name): Deed => (new Deed($name))->identifiedBy('taken');
        $batch = Bus::batch([new Deed('d'), $refused('e'), new Deed('f'), $refused('g'), new Deed('h')])
            ->allowFailures()->catch(new Told('catch'))->finally(new Told('finally'))->dispatch();
        $this->assertSame([5, 5, 2], [$batch->totalJobs, $batch->pendingJobs, $batch->failedJobs]);
        $batch->add([$refused('i'), new Deed('j')]);
        $this->workUntilEmpty('queue:work');
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

    private function customer(): Customer
    {
        $schema = $this->app['db']->connection()->getSchemaBuilder();
        $schema->create('customers', static fn (Blueprint $table) => $table->id());
        $customer = new Customer();
        $customer->save();

        return $customer;
    }
}
