<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\Journal;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Laravel\Support\Told;
use DelayQueue\Worker\Progress;
use Illuminate\Console\Scheduling\Schedule;
use Illuminate\Support\Facades\Bus;
use PHPUnit\Framework\Attributes\DataProvider;

/** Laravel's own batches, chains and schedules, whose jobs are on this driver. */
final class BatchesAndSchedulesTest extends LaravelTestCase
{
    /** @return array<string, array{string}> */
    public static function workers(): array
    {
        return ['queue:work' => ['queue:work'], 'delayqueue:work' => ['delayqueue:work']];
    }

    /** @dataProvider workers */
    #[DataProvider('workers')]
    public function testABatchCallsBackOnce(string $worker): void
    {
        $jobs = [new Deed('a'), new Deed('b'), new Deed('c')];
        $batch = Bus::batch($jobs)->then(new Told('then'))->catch(new Told('catch'))->finally(new Told('finally'))->dispatch();
        $this->work($worker);
        $this->assertSame(['told then 3 jobs, 0 pending, 0 failed', 'told finally 3 jobs, 0 pending, 0 failed'], $this->told());
        $this->assertSame([100.0, true], [(float) $batch->fresh()->progress(), $batch->fresh()->finished()]);
    }

    /** @dataProvider workers */
    #[DataProvider('workers')]
    public function testAFailedJobOfABatchCallsBackOnce(string $worker): void
    {
        $jobs = [self::triedOnce('a', 'throw'), self::triedOnce('b', 'throw'), new Deed('c')];
        $batch = Bus::batch($jobs)->then(new Told('then'))->catch(new Told('catch'))->allowFailures()->dispatch();
        $this->work($worker);
        $this->assertSame(['told catch 3 jobs, 3 pending, 1 failed a went wrong'], $this->told());
        $this->assertSame([2, 2], [$batch->fresh()->failedJobs, $batch->fresh()->pendingJobs]);
        $this->assertSame(1, $this->lines('/^end c/'));
    }

    public function testJobsAreAddedToABatchAndCancelledWithIt(): void
    {
        $batch = Bus::batch([(new Deed('a'))->delay(60)])->dispatch();
        $batch->add([(new Deed('b'))->delay(120)]);
        $this->assertSame([2, 2], [$batch->fresh()->totalJobs, $this->delayQueue()->count(State::Delayed)]);
        $batch->cancel();
        $this->travel('3m');
        $this->queue()->pop()->fire();
        $this->assertTrue($batch->fresh()->cancelled());
    }

    /** @dataProvider workers */
    #[DataProvider('workers')]
    public function testALinkThatFailsEndsItsChain(string $worker): void
    {
        Bus::chain([new Deed('first'), self::triedOnce('second', 'throw'), new Deed('third')])->catch(new Told('catch'))->dispatch();
        $this->work($worker);
        $this->assertSame([['told catch second went wrong'], 1, 0], [$this->told(), $this->lines('/^end first/'), $this->lines('/^begin third/')]);
        $this->assertQueueEmpty();
    }

    public function testALinkMayHaveADelayAnIdAndAQueue(): void
    {
        Bus::chain([new Deed('first'), (new Deed('second'))->delay(60)->identifiedBy('order-4711')->onQueue('mails')])->dispatch();
        $this->queue()->pop()->fire();
        $this->assertDelayed('order-4711', 'mails', 60);
    }

    public function testTheSchedulerDispatchesJobs(): void
    {
        $this->app->make(Schedule::class)->job((new Deed('nightly'))->delay(600)->identifiedBy('nightly'), 'reports')->everyMinute();
        // Debian's library of cron lines is older than PHP 8.2.
        error_reporting(error_reporting() & ~E_DEPRECATED);
        $this->artisan('schedule:run');
        $this->assertDelayed('nightly', 'reports', 600);
    }

    public function testAJobTellsItsProgress(): void
    {
        Deed::dispatch('import')->identifiedBy('import');
        $job = $this->queue()->pop();
        $body = $this->queue()->find('import')->body;
        Progress::of($job->native())->report(0.5, 'half');
        $told = $this->queue()->find('import');
        $this->assertSame([0.5, $body], [Progress::in($told)['share'], $told->body]);
        $job->fire();
        $this->assertSame(1, $this->lines('/^end import 1 /'));
    }

    private function work(string $worker): void
    {
        $process = $this->start($worker, '--stop-when-empty');
        $this->assertSame(0, $process->exitCode(30), $process->errors());
    }

    /** @return list<string> */
    private function told(): array
    {
        return array_values(preg_grep('/^told/', Journal::lines()));
    }

    private static function triedOnce(string $name, string $end): Deed
    {
        $deed = new Deed($name, end: $end);
        $deed->tries = 1;

        return $deed;
    }
}
