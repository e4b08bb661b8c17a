<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\JobInfo;
use DelayQueue\Laravel\Events\LeaseLost;
use DelayQueue\Laravel\Failing\Failure;
use DelayQueue\Laravel\Job;
use DelayQueue\State;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use Illuminate\Queue\Events\JobFailed;
use RuntimeException;

/** A job that fails for the last time is in failed_jobs before it leaves its queue. */
final class FailuresTest extends LaravelTestCase
{
    private const COMMANDS = ['queue:work', 'delayqueue:work'];

    /** @dataProvider settings */
    #[\PHPUnit\Framework\Attributes\DataProvider('settings')]
    public function testAFailureThatCannotBeRecordedIsTriedAgainAndItsJobIsNot(string $command, bool $buries): void
    {
        $this->boot(['block_for' => 0, 'bury_failed' => $buries]);
        $id = $this->pushHopeless();
        $this->renameTable('failed_jobs', 'away');
        $this->workUntilEmpty($command);
        $job = $this->queue()->find($id);
        $this->assertSame([State::Delayed, 0], [$job?->state, $job?->attempts]);
        $this->assertEqualsWithDelta(30, $job->dueAt - $this->queue()->native()->now(), 20);
        $this->assertStringContainsString('hopeless went wrong', (string) $job->lastError);
        $this->assertStringContainsString('no such table: failed_jobs', (string) $job->lastError);
        $this->assertTrue(str_contains($this->log(), 'FailureNotRecorded'), 'it is reported');

        $this->workNow($command, $id);
        $this->renameTable('away', 'failed_jobs');
        $this->workNow($command, $id);
        $this->assertSame(1, $this->lines('/^begin hopeless/'), 'runs');
        $this->assertSame(1, $this->lines('/^failed hopeless hopeless went wrong/'), 'calls of failed()');
        $this->assertSame([[$id, true]], $this->recorded('RuntimeException: hopeless went wrong in'));
        $this->assertSame(0, $this->queue()->size());
        $this->assertSame($buries ? 1 : 0, $this->queue()->native()->count(State::Buried));
    }

    /** @dataProvider settings */
    #[\PHPUnit\Framework\Attributes\DataProvider('settings')]
    public function testAFailureThatIsNotRecordedInTenTriesIsBuriedWithBothErrors(string $command, bool $buries): void
    {
        $this->boot(['block_for' => 0, 'bury_failed' => $buries]);
        $id = $this->pushHopeless();
        $this->renameTable('failed_jobs', 'away');
        $this->workUntilEmpty($command);
        for ($releases = 1; $releases <= 10; ++$releases) {
            $job = $this->queue()->find($id);
            $this->assertSame([State::Delayed, 0], [$job?->state, $job?->attempts]);
            $this->workNow($command, $id);
        }
        $job = $this->queue()->find($id);
        $this->assertInstanceOf(JobInfo::class, $job);
        $this->assertSame([State::Buried, []], [$job->state, $job->headers]);
        $this->assertStringStartsWith('RuntimeException: hopeless went wrong', (string) $job->lastError);
        $this->assertStringContainsString('no such table: failed_jobs', (string) $job->lastError);
        $this->assertSame([1, 1], [$this->lines('/^begin hopeless/'), $this->lines('/^failed hopeless/')]);

        // An operator who kicks it wants it to run.
        $this->renameTable('away', 'failed_jobs');
        $this->queue()->native()->kickJob($id);
        $this->workUntilEmpty($command);
        $this->assertSame(2, $this->lines('/^begin hopeless/'));
        $this->assertSame([[$id, true]], $this->recorded('RuntimeException: hopeless'));
    }

    /** @dataProvider settings */
    #[\PHPUnit\Framework\Attributes\DataProvider('settings')]
    public function testWhatAListenerThrowsIsNoReasonToRecordAJobTwice(string $command, bool $buries): void
    {
        $this->boot(['block_for' => 0, 'bury_failed' => $buries]);
        $throws = true;
        $this->app['events']->listen(JobFailed::class, static function () use (&$throws): void {
            if ($throws) {
                $throws = false;
                throw new RuntimeException('no mail server');
            }
        });
        $id = $this->pushHopeless();
        $this->workUntilEmpty($command);
        $this->assertSame(State::Delayed, $this->queue()->find($id)?->state, 'a listener that comes before the record');
        $this->workNow($command, $id);
        $this->assertSame([[$id, true]], $this->recorded('RuntimeException: hopeless'));

        $this->app['events']->listen(JobFailed::class, static fn () => throw new RuntimeException('no log server'));
        $next = $this->pushHopeless();
        $this->workUntilEmpty($command);
        $this->assertSame([[$id, true], [$next, true]], $this->recorded('RuntimeException: hopeless'));
        $this->assertSame(0, $this->queue()->size(), 'a listener that comes after it');
        $this->assertTrue(str_contains($this->log(), 'no log server'), 'it is reported');
    }

    public function testAJobThatAnEndedWorkerHasRecordedIsNotRecordedAgain(): void
    {
        $columns = 'id integer primary key, connection, queue, payload, exception, failed_at';
        $this->app['db']->statement("create table failed_before ($columns)");
        foreach (['database-uuids' => 'failed_jobs', 'database' => 'failed_before'] as $driver => $table) {
            foreach (self::COMMANDS as $times => $command) {
                $this->boot(['block_for' => 0]);
                $this->app['config']->set(['queue.failed.driver' => $driver, 'queue.failed.table' => $table]);
                $this->pushHopeless();
                $job = $this->queue()->pop();
                $this->assertInstanceOf(Job::class, $job);
                Failure::because('RuntimeException: earlier')->begun()->storeIn($job->native());
                $earlier = new RuntimeException('earlier');
                $this->app['queue.failer']->log('delayqueue', 'default', $job->getRawBody(), $earlier);
                $job->native()->release();
                $this->workUntilEmpty($command);
                $this->assertSame($times + 1, $this->app['db']->table($table)->count(), "$driver, $command");
                $this->assertSame(0, $this->queue()->size());
            }
        }
        $this->assertSame(0, $this->lines('/^begin/'));
        $this->assertSame(4, $this->lines('/^failed hopeless RuntimeException: earlier/'));
    }

    public function testAFailureThatIsRecordedInATransactionOfTheJobIsThereWhenTheJobIsGone(): void
    {
        $this->app['db']->purge(); // as a worker begins
        foreach (self::COMMANDS as $command) {
            $ends = ['fail in a transaction' => 0, 'leave a transaction' => 0, 'fail and roll back' => 1];
            foreach ($ends as $end => $left) {
                $job = new Deed($end, 0, $end);
                $job->tries = 1;
                $id = $this->queue()->push($job);
                $this->workUntilEmpty($command);
                $this->app['db']->purge();
                $recorded = $this->app['db']->table('failed_jobs')->count();
                $this->assertSame([$left, 1 - $left], [$this->queue()->size(), $recorded], "$command: $end");
                $left === 0 || $this->workNow($command, $id);
                $this->app['db']->purge();
                $this->assertSame([[$id, true]], $this->recorded("RuntimeException: $end failed"), "$command: $end");
                $this->app['db']->table('failed_jobs')->delete();
            }
        }
        $this->assertSame([6, 6], [$this->lines('/^begin/'), $this->lines('/^failed/')]);
    }

    public function testAFailedJobThatIsNoLongerOursIsReportedOnce(): void
    {
        foreach ([false, true] as $buries) {
            $this->boot(['block_for' => 0, 'bury_failed' => $buries]);
            $heard = $this->listenFor(LeaseLost::class);
            $id = $this->pushHopeless();
            $job = $this->queue()->pop();
            $this->queue()->cancel($id);
            $job?->fail(new RuntimeException('hopeless'));
            $this->assertCount(1, $heard);
        }
    }

    public function testAFailureThatEndsEachOfItsWorkersIsBuried(): void
    {
        foreach (self::COMMANDS as $command) {
            $id = $this->pushHopeless();
            $job = $this->queue()->pop();
            $this->assertInstanceOf(Job::class, $job);
            $failure = Failure::because('RuntimeException: hopeless');
            for ($workers = 0; $workers < 11; ++$workers) {
                $failure = $failure->begun();
            }
            $failure->storeIn($job->native());
            $job->native()->release();
            $this->workUntilEmpty($command);
            $buried = $this->queue()->find($id);
            $this->assertSame([State::Buried, []], [$buried?->state, $buried?->headers], $command);
            $this->assertStringStartsWith("RuntimeException: hopeless\nCould not", (string) $buried->lastError);
        }
        $this->assertSame(0, $this->lines('/^(begin|failed)/'));
    }

    public function testHeadersOfOthersAreNoFailures(): void
    {
        $lies = array_map(
            static fn (string $lie): array => ['dq-failure' => $lie],
            ['x', '{"why":[],"attempts":"a"}', '12'],
        );
        // There is no room for another.
        $lies[] = ['a' => str_repeat('x', 8191)];
        foreach (self::COMMANDS as $command) {
            foreach ($lies as $n => $headers) {
                $job = new Deed("lie $n", 0, 'throw');
                $job->tries = 1;
                $this->queue()->native()->push($this->bodyOf($job), headers: $headers);
            }
            $this->workUntilEmpty($command);
        }
        $this->assertSame([8, 8], [$this->lines('/^begin lie/'), $this->lines('/^failed lie/')]);
        $this->assertSame(0, $this->queue()->size());
        $this->assertSame(8, $this->app['db']->table('failed_jobs')->count());
    }

    /** @return iterable<string, array{string, bool}> */
    public static function settings(): iterable
    {
        foreach (self::COMMANDS as $command) {
            yield $command => [$command, false];
            yield "$command, bury_failed" => [$command, true];
        }
    }

    private function pushHopeless(): string
    {
        $job = new Deed('hopeless', 0, 'throw');
        $job->tries = 1;

        return $this->queue()->push($job);
    }

    /** Without waiting for its delay. */
    private function workNow(string $command, string $id): void
    {
        $this->assertTrue($this->queue()->reschedule($id, 0));
        $this->workUntilEmpty($command);
    }

    private function renameTable(string $from, string $to): void
    {
        $this->app['db']->connection()->getSchemaBuilder()->rename($from, $to);
    }

    /** @return list<array{string, bool}> the uuids in failed_jobs, and whether the exception begins so */
    private function recorded(string $exception): array
    {
        return $this->app['db']->table('failed_jobs')->orderBy('id')->get(['uuid', 'exception'])
            ->map(static fn (object $row): array => [$row->uuid, str_starts_with($row->exception, $exception)])->all();
    }
}
