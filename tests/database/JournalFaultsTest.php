<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use Closure;
use DelayQueue\Bury;
use DelayQueue\Database\Inbox;
use DelayQueue\Database\Journal;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\SchemaException;
use DelayQueue\Job;
use DelayQueue\Release;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\JournalTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PDO;

/** A journal whose database fails, and workers that die or race. */
final class JournalFaultsTest extends JournalTestCase
{
    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testTheLastRunCountsWhoeverWritesLast(string $name): void
    {
        $slow = $this->prepare($name, atMost: 1000);
        [$queue, $other] = [$slow->watch(self::queue()), (new Journal($this->pdo(), payloads: true))->watch(self::queue())];
        foreach (['is written at once', 'order-1', 'last'] as $id) {
            $queue->push(null, id: $id);
        }
        $queue->consume(function (Job $job) use ($other, $slow): void {
            $job->id === 'order-1' && throw new Release(0, 'not yet');
            if ($job->id === 'last') {
                $other->consume(static fn () => throw new Bury('no such order'), maxJobs: 1);
                $this->assertSame('buried', $slow->state('order-1'));
            }
        }, maxJobs: 3);
        [$record] = $slow->find('order-1');
        $this->assertSame(['buried', 2, 'no such order'], [$record->state, $record->attempts, $record->error]);
        $this->assertSame([[2, 'buried', 'no such order'], [1, 'released', 'not yet']], self::runs($record));
        $this->assertSame($record->runs[0]['began'], $record->beganAt);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testADoneJobIsDoneWhereTheClocksOfWorkersDiffer(string $name): void
    {
        $journal = $this->prepare($name);
        $queue = $journal->watch(self::queue());
        $queue->push(null, id: 'order-1');
        $queue->drain(static fn () => throw new Release(0), limit: 1);
        // Its worker was an hour ahead.
        $this->pdo()->exec('update delayqueue_jobs set began = began + 3600000000');
        $job = self::queue()->reserve();
        $inbox = new Inbox($this->pdo());
        $this->assertSame([true, false], [$inbox->once($job, static fn () => null), $inbox->once($job, static fn () => null)]);
        $this->assertSame('done', $journal->state('order-1'));
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAWorkerThatIsKilledLosesOnlyWhatItHasNotWritten(string $name): void
    {
        $journal = $this->prepare($name);
        (new Outbox($this->pdo(), self::queue(...), journal: true))->pushMany('orders', [['payload' => 1, 'id' => 'first'], ['payload' => 2, 'id' => 'second']]);
        $worker = $this->worker(batch: 1000, atMost: 1000);
        foreach (['first', 'second'] as $id) {
            $made = (int) $this->pdo()->query("select made from delayqueue_jobs where job = '$id'")->fetchColumn();
            self::queue()->pushOnce([['receipt' => $id, 'id' => $id, 'payload' => $id, 'createdAt' => $made / 1000]]);
            $worker->hear($id);
        }
        Wait::until(static fn (): bool => self::queue()->count() === 0, 10, 'the end of the jobs');
        $worker->kill();
        $this->assertSame('done', $journal->state('first'));
        $this->assertSame('waiting', $journal->state('second'), 'it was not idle yet');
        $this->assertSame(2, $this->rows());
        RedisServer::shared()->flush();
        $this->assertSame(1, $journal->rebuild('orders'));
        $this->assertSame('second', self::queue()->peekReady()->id);
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testTwoWorkersThatWriteTheSameJobsDoNotFail(string $name): void
    {
        $journal = $this->prepare($name);
        $server = self::database($name);
        $command = [PHP_BINARY, '-d', 'delayqueue.testing=1', __DIR__ . '/programs/twin.php', $server->dsn($this->database), (string) $server->user(), (string) $server->password(), '40'];
        $twins = [new Process($command), new Process($command)];
        foreach ($twins as $twin) {
            $twin->hear('ready');
        }
        foreach ($twins as $twin) {
            $twin->say('go');
        }
        foreach ($twins as $twin) {
            $this->assertSame('done', $twin->line(60));
        }
        $this->assertSame(100, $this->rows("state = 'done'"));
        $this->assertCount(20, $journal->find('order-7')[0]->runs);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testADatabaseThatIsAwayDoesNotStopTheWorker(string $name): void
    {
        $journal = $this->prepare($name, batch: 2, atMost: 0.0);
        $queue = $journal->watch(self::queue());
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "order-$n"], range(1, 20)));
        $queue->consume(function (Job $job): void {
            if ($job->payload === 5) {
                $this->takeAway();
            }
            if ($job->payload === 15) {
                $this->bringBack();
            }
        }, maxJobs: 20, stopWhenEmpty: true);
        $this->assertNotSame([], $this->reports);
        $this->assertTrue($journal->flush());
        $this->assertSame(20, $this->rows("state = 'done'"));
        $this->assertSame(0, $journal->lost());
        $this->assertCount(1, $journal->find('order-7')[0]->runs);
    }

    public function testWithoutAReportErrorsAreInTheLogOfPhp(): void
    {
        $this->prepare('sqlite');
        $queue = (new Journal($this->pdo(...)))->watch(self::queue());
        $queue->push(null, id: "order-\xff");
        $log = tempnam(sys_get_temp_dir(), 'log');
        $before = (string) ini_set('error_log', $log);
        try {
            $queue->drain(static fn () => null);
            $this->assertMatchesRegularExpression('/^\[[^\n]*\] the journal cannot note job [^\n]*: the id of a job must be UTF-8[^\n]*\n$/D', (string) file_get_contents($log));
        } finally {
            ini_set('error_log', $before);
            unlink($log);
        }
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testWhatWaitsForADatabaseIsBoundedAndWhatIsLostIsCounted(string $name): void
    {
        $journal = $this->prepare($name, batch: 1, atMost: 0.0);
        $queue = $journal->watch(self::queue());
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, 200)));
        $this->takeAway();
        $queue->drain(static fn () => null);
        $this->bringBack();
        $this->assertTrue($journal->flush());
        $this->assertGreaterThanOrEqual(100, $journal->lost());
        $this->assertSame(200, $this->rows() + $journal->lost());
        $this->assertStringContainsString('waits for its database', $this->reports[0]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAWorkerMayStartWhileItsDatabaseIsAway(string $name): void
    {
        $journal = $this->prepare($name, atMost: 0.0);
        $this->takeAway();
        $queue = $journal->watch(self::queue());
        // SQLite has readers beside a writer.
        $this->assertCount($name === 'sqlite' ? 0 : 1, $this->reports);
        $queue->push(null, id: 'order-1');
        $queue->drain(static fn () => null);
        $this->bringBack();
        $this->assertTrue($journal->flush());
        $this->assertSame('done', $journal->state('order-1'));
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testMissingTablesAreNamedWithTheirCure(string $name): void
    {
        $journal = $this->prepare($name);
        $this->pdo()->exec('drop table delayqueue_jobs');
        foreach ([fn () => $journal->watch(self::queue()), fn () => $journal->find('x'), fn () => $journal->state('x', 'orders'), fn () => $journal->search(), fn () => $journal->prune(0), fn () => $journal->rebuild('orders')] as $use) {
            $this->assertRefused('outbox:install --jobs', $use);
        }
        $this->pdo()->exec('update delayqueue_source set version = 99');
        $this->assertRefused('update the package', fn () => $journal->watch(self::queue()));
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testAReadOnlyDatabaseIsReportedAndTheRowsWait(string $name): void
    {
        $journal = $this->prepare($name);
        $server = self::database($name);
        $readOnly = ['pgsql' => 'set default_transaction_read_only = on', 'mysql' => 'set session transaction read only', 'sqlite' => 'pragma query_only = on'][$server->driver()];
        $isReadOnly = true;
        $journal = new Journal(function () use (&$isReadOnly, $readOnly): PDO {
            $pdo = $this->pdo();
            $isReadOnly && $pdo->exec($readOnly);

            return $pdo;
        }, report: $this->report(...));
        $queue = $journal->watch(self::queue());
        $queue->push(null, id: 'order-1');
        $queue->drain(static fn () => null);
        $this->assertMatchesRegularExpression('/read.?only|READ ONLY/', implode($this->reports));
        $isReadOnly = false;
        $journal->flush();
        $this->assertTrue($journal->flush());
        $this->assertSame('done', $journal->state('order-1'));
    }

    public function testWrongArgumentsAreNamed(): void
    {
        $journal = $this->prepare('sqlite');
        $calls = [
            'prune(): Argument #2 ($state) must be one of done, cancelled, gone' => static fn () => $journal->prune('1h', 'failed'),
            'search(): Argument #2 ($state) must be one of waiting, released, failed, timedOut, buried, done, cancelled, gone' => static fn () => $journal->search(state: 'succeeded'),
            'search(): Argument #5 ($limit) must be greater than or equal to 1' => static fn () => $journal->search(limit: 0),
        ];
        foreach ($calls as $message => $call) {
            try {
                $call();
                $this->fail("not $message");
            } catch (\ValueError $error) {
                $this->assertSame(Journal::class . "::$message", $error->getMessage());
            }
        }
    }

    /** The server is gone; SQLite's file is locked. */
    private function takeAway(): void
    {
        $server = self::database($this->name);
        if ($server->driver() === 'sqlite') {
            $this->lock = $server->pdo($this->database);
            $this->lock->exec('begin exclusive');
        }
        $server->kill();
    }

    private function bringBack(): void
    {
        $this->lock = null;
        self::database($this->name)->restart();
    }

    private function worker(int $batch, float $atMost): Process
    {
        $server = self::database($this->name);
        $command = [PHP_BINARY, __DIR__ . '/programs/journal.php', $server->dsn($this->database), (string) $server->user(), (string) $server->password()];

        return new Process([...$command, RedisServer::shared()->dsn(), (string) $batch, (string) $atMost]);
    }

    private function assertRefused(string $with, Closure $use): void
    {
        try {
            $use();
            $this->fail('it was not refused');
        } catch (SchemaException $error) {
            $this->assertStringContainsString($with, $error->getMessage());
        }
    }
}
