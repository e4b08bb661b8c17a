<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use Closure;
use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Database\Inbox;
use DelayQueue\Database\Journal;
use DelayQueue\Database\JobRecord;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;
use DelayQueue\Database\SchemaException;
use DelayQueue\Job;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\DatabaseTestCase;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PDO;
use RuntimeException;

/** The history of each job. */
final class JournalTest extends DatabaseTestCase
{
    private string $name;

    private string $database;

    private ?PDO $lock = null;

    /** @var list<string> what the journal reported */
    private array $reports = [];

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testItTellsHowEachJobEnded(string $name): void
    {
        $journal = $this->prepare($name);
        $queue = $journal->watch(self::queue(maxAttempts: 2));
        $began = microtime(true);
        foreach (['done', 'released', 'buried', 'failed', 'both'] as $id) {
            $queue->push(['is' => $id], id: $id);
        }
        $queue->drain(static fn (Job $job) => match ($job->id) {
            'done' => null,
            'released' => throw new Release('1h', 'the shop is closed'),
            'buried' => throw new Bury('no such order'),
            'failed' => throw new RuntimeException("no stock\nof article 3"),
            'both' => $job->attempts === 1 ? throw new RuntimeException('once') : null,
        });
        $this->assertSame([], $this->reports);

        $states = array_map(static fn (string $id): ?string => $journal->state($id), ['done', 'released', 'buried', 'failed', 'both', 'unknown']);
        $this->assertSame(['done', 'released', 'buried', 'buried', 'done', null], $states);
        [$done] = $journal->find('done', 'orders');
        $this->assertSame(['orders', 'done', 1, null, '{"is":"done"}'], [$done->queue, $done->id, $done->attempts, $done->error, $done->payload]);
        foreach ([$done->createdAt, $done->dueAt, $done->beganAt, $done->endedAt] as $time) {
            $this->assertEqualsWithDelta($began, $time, 30);
        }
        [$released] = $journal->find('released');
        $this->assertSame('the shop is closed', $released->error);
        $this->assertNull($released->endedAt);
        $this->assertEqualsWithDelta($began + 3600, $released->dueAt, 30);
        [$failed] = $journal->find('failed');
        $this->assertSame("RuntimeException: no stock\nof article 3", $failed->error);
        $this->assertSame([[2, 'buried', 'RuntimeException: no stock'], [1, 'failed', 'RuntimeException: no stock']], self::runs($failed));
        $this->assertSame(gethostname() . ':' . getmypid(), $failed->runs[0]['worker']);
        $this->assertEqualsWithDelta($began, $failed->runs[0]['began'], 30);
        $this->assertEqualsWithDelta(0, $failed->runs[0]['duration'], 10);
        $this->assertSame([[2, 'done', null], [1, 'failed', 'RuntimeException: once']], self::runs($journal->find('both')[0]));
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testARunThatTimedOutIsOneRun(string $name): void
    {
        $journal = $this->prepare($name, batch: 1);
        $queue = $journal->watch(self::queue());
        $queue->push(null, id: 'slow');
        $queue->consume(static function (): void {
            for ($until = microtime(true) + 10; microtime(true) < $until;) {
                usleep(1000);
            }
        }, maxJobs: 1, timeout: 0.2);
        [$slow] = $journal->find('slow');
        $this->assertSame('timedOut', $slow->state);
        $this->assertCount(1, $slow->runs);
        $this->assertSame('timedOut', $slow->runs[0]['outcome']);
        $this->assertEqualsWithDelta(0.2, $slow->runs[0]['duration'], 2);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAJobLostInTheHandIsCancelledGoneOrStillThere(string $name): void
    {
        $journal = $this->prepare($name);
        $other = self::queue();
        $queue = $journal->watch(self::queue(ttr: 0.2));
        $queue->push(null, id: 'gone');
        $queue->push(null, id: 'there');
        $queue->consume(static function (Job $job) use ($other): void {
            $taken = Wait::until(static fn (): ?Job => $other->reserveJob($job->id) ?? self::expired($other), 10, 'the end of the lease');
            $job->id === 'gone' && $taken->ack();
            try {
                $job->touch();
            } catch (DelayQueue\LeaseLostException) {
            }
        }, maxJobs: 2, heartbeat: false);
        $queue->push(null, id: 'cancelled', ttr: 60);
        $queue->consume(static function (Job $job) use ($other): void {
            $other->cancel('cancelled');
            Wait::until($job->isLost(...), 10, 'the news');
        }, maxJobs: 1);
        $this->assertSame([], $this->reports);
        $this->assertSame(['cancelled', 'gone', null], [$journal->state('cancelled'), $journal->state('gone'), $journal->state('there')]);
        $this->assertNotNull($journal->find('cancelled')[0]->endedAt);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testItKeepsTheLastTwentyRunsInEightKilobytes(string $name): void
    {
        $journal = $this->prepare($name, batch: 7);
        $queue = $journal->watch(self::queue(maxAttempts: 0));
        $queue->push(null, id: 'bad');
        $text = str_repeat("запас \\\"\u{1F4E6}", 60);
        $queue->drain(static fn (Job $job) => $job->attempts < 40 ? throw new RuntimeException("$job->attempts $text\nmore") : null);
        [$bad] = $journal->find('bad');
        $this->assertSame([40, 'done'], [$bad->attempts, $bad->state]);
        $this->assertSame(range(40, 21), array_column($bad->runs, 'attempt'));
        $this->assertStringStartsWith('RuntimeException: 39 запас', $bad->runs[1]['error']);
        $this->assertLessThanOrEqual(8000, strlen($this->pdo()->query('select runs from delayqueue_jobs')->fetchColumn()));
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAJobThatAnInboxHasMarkedGetsItsRunAndStaysDone(string $name): void
    {
        $journal = $this->prepare($name, batch: 1);
        $inbox = new Inbox($this->pdo());
        $queue = $journal->watch(self::queue());
        $queue->push(null, id: 'order-1');
        $queue->drain(static function (Job $job) use ($inbox): void {
            $inbox->once($job, static fn () => null);
            $job->attempts === 1 && throw new RuntimeException('after the commit');
        });
        [$record] = $journal->find('order-1');
        $this->assertSame(['done', 1], [$record->state, $record->attempts]);
        $this->assertSame(['done', 'failed'], array_column($record->runs, 'outcome'));
    }

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
    public function testWhatIsKnownReplacesGone(string $name): void
    {
        $journal = $this->prepare($name);
        $queue = $journal->watch(self::queue());
        $queue->push(null, id: 'order-1');
        $made = (int) round($queue->peek('order-1')->createdAt * 1000);
        $this->pdo()->exec("insert into delayqueue_jobs (queue, job, made, state, ended) values ('orders', 'order-1', $made, 'gone', 1)");
        $queue->drain(static fn () => throw new Release(3600));
        [$record] = $journal->find('order-1');
        $this->assertSame(['released', null], [$record->state, $record->endedAt]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testABusyWorkerWritesByBatchesAndAnIdleOneAtOnce(string $name): void
    {
        $journal = $this->prepare($name, batch: 3, atMost: 1000);
        $queue = $journal->watch(self::queue());
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, 6)));
        $written = [];
        $queue->consume(function () use (&$written): void {
            $written[] = $this->rows();
        }, idleTimeout: 0.1, maxJobs: 6);
        // The first one is written at once.
        $this->assertSame([0, 1, 1, 1, 4, 4], $written);
        $this->assertSame(6, $this->rows());

        $queue->push('last');
        $queue->on(DelayQueue\Event::Idle, function () use ($queue): void {
            $this->assertSame(7, $this->rows());
            $queue->stop();
        });
        $queue->consume(static fn () => null, idleTimeout: 0.1);
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

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
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

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
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

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testForeignBytesDoNotHoldUpTheOthers(string $name): void
    {
        $journal = $this->prepare($name, atMost: 1000);
        $queue = $journal->watch(self::queue(maxAttempts: 1));
        foreach (["order-\xff", 'error', 'message', 'fine'] as $id) {
            $queue->push($id === 'error' ? str_repeat('x', 100) : 1, id: $id);
        }
        $queue->drain(static fn (Job $job) => match ($job->id) {
            'error' => throw new RuntimeException("bad \xff\0 bytes"),
            'message' => throw new RuntimeException(str_repeat("\u{1F4E6}", 3000)),
            default => null,
        });
        $this->assertSame(['buried', 'buried', 'done'], [$journal->state('error'), $journal->state('message'), $journal->state('fine')]);
        $this->assertSame("RuntimeException: bad \u{FFFD} bytes", $journal->find('error')[0]->error);
        $this->assertSame(1, $journal->lost());
        $this->assertStringContainsString('cannot note', $this->reports[0]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testItFindsTheJobsOfAnIdNewestFirstInAllQueues(string $name): void
    {
        $journal = $this->prepare($name);
        $this->assertSame([], $journal->find('order-1'));
        foreach ([['orders', 'order-1', 3], ['orders', 'order-1', 5], ['mails', 'order-1', 4], ['aaa', 'order-2', 9], ['zzz', 'Order-1', 9]] as $n => [$queue, $id, $made]) {
            $this->pdo()->prepare('insert into delayqueue_jobs (queue, job, made, state) values (?, ?, ?, ?)')->execute([$queue, $id, $made * 1000, "s$n"]);
        }
        $this->assertSame([['orders', 5.0], ['mails', 4.0], ['orders', 3.0]], array_map(static fn (JobRecord $r): array => [$r->queue, $r->createdAt], $journal->find('order-1')));
        $this->assertSame(['mails'], array_column($journal->find('order-1', 'mails'), 'queue'));
        $this->assertSame(['s1', 's2', null], [$journal->state('order-1'), $journal->state('order-1', 'mails'), $journal->state('order-1', 'aaa')]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testItSearchesStatesTimesAndBytes(string $name): void
    {
        $journal = $this->prepare($name);
        $queue = new DelayQueue('orders', RedisServer::shared()->dsn(), ['format' => 'raw', 'maxAttempts' => 1]);
        $journal->watch($queue);
        $queue->push("caf\xc3\xa9 \xff\0\xfe", id: 'bytes');
        $queue->push("100%_ 'x' \\ ?", id: 'signs');
        $queue->push('', id: 'empty');
        $queue->drain(static fn (Job $job) => $job->id === 'empty' ? throw new RuntimeException('Straße 100%') : null);
        $ids = static fn (mixed ...$filter): array => array_column($journal->search(...$filter), 'id');
        $this->assertSame(['bytes'], $ids(contains: "\xff\0"));
        $this->assertSame(['bytes'], $ids(contains: 'café'));
        $this->assertSame(['signs'], $ids(contains: "%_ 'x' \\ ?"));
        $this->assertEqualsCanonicalizing(['signs', 'empty'], $ids(contains: '100%'));
        $this->assertSame(['empty'], $ids(contains: 'traße'));
        $this->assertSame([], $ids(contains: 'CAFÉ'));
        $this->assertSame([], $ids(contains: "\xfe\xff"));
        $this->assertSame(['empty'], $ids(state: 'buried'));
        $this->assertSame([], $ids(queue: 'mails'));
        $this->assertCount(3, $ids(queue: 'orders', since: new DateTimeImmutable('-1 minute')));
        $this->assertSame([], $ids(since: new DateTimeImmutable('+1 minute')));
        $this->assertCount(2, $ids(limit: 2));
        $this->pdo()->exec("update delayqueue_jobs set ended = 4000000000000000 where job = 'signs'");
        $this->assertSame('signs', $ids(limit: 1)[0]);
        $this->assertSame("caf\xc3\xa9 \xff\0\xfe", $journal->find('bytes')[0]->payload);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testPruneDeletesWhatEndedLongAgo(string $name): void
    {
        $journal = $this->prepare($name);
        $now = (int) (microtime(true) * 1e6);
        $pdo = $this->pdo();
        $pdo->beginTransaction();
        $insert = $pdo->prepare("insert into delayqueue_jobs (queue, job, made, due, state, ended) values ('orders', ?, 1, ?, ?, ?)");
        foreach (range(1, 2500) as $n) {
            $insert->execute(["old-$n", $now, $n % 2 === 0 ? 'done' : 'cancelled', $now - 3_600_000_000 - intdiv($n, 1500)]);
        }
        $insert->execute(['young', $now, 'done', $now - 60_000_000]);
        $insert->execute(['open', $now, 'failed', null]);
        $pdo->commit();
        // A handler that works holds nothing up.
        $working = $this->pdo();
        $working->beginTransaction();
        $name === 'sqlite' || $working->exec("update delayqueue_jobs set attempts = 2 where queue = 'orders' and job = 'young' and made = 1");
        $this->assertSame(1250, $journal->prune('30m', 'cancelled'));
        $this->assertSame(1250, $journal->prune(new \DateInterval('PT30M')));
        $working->commit();
        $this->assertSame(0, $journal->prune(1800));
        $this->assertSame(2, $this->rows());
        $this->expectException(\ValueError::class);
        $journal->prune('soon');
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testPruneEndsWhatItsQueueHasNotAnyMore(string $name): void
    {
        $journal = $this->prepare($name);
        $outbox = new Outbox($this->pdo(), self::queue(...), journal: true);
        foreach (['here', 'purged', 'again', 'young'] as $id) {
            $outbox->push('orders', $id, id: $id);
        }
        $outbox->flush();
        $this->pdo()->exec('delete from delayqueue_outbox');
        $outbox->push('orders', 'x', id: 'unsent');
        $outbox->push('elsewhere', 'x', id: 'unknown');
        $this->pdo()->exec("delete from delayqueue_outbox where queue = 'elsewhere'");
        $this->pdo()->exec("update delayqueue_jobs set due = due - 7200000000 where job <> 'young'");
        self::queue()->cancel('purged', 'again', 'young');
        usleep(2000);
        self::queue()->push(1, id: 'again');

        $this->assertSame(0, $journal->prune('1h', 'done'));
        $this->assertSame('waiting', $journal->state('purged'));
        $this->assertSame(0, $journal->prune('1h'));
        $states = array_map(static fn (string $id): ?string => $journal->state($id), ['here', 'purged', 'again', 'young', 'unsent', 'unknown']);
        $this->assertSame(['waiting', 'gone', 'gone', 'waiting', 'waiting', 'waiting'], $states);
        $this->assertStringContainsString('queue elsewhere cannot be asked', $this->reports[0]);
        $this->assertEqualsWithDelta(microtime(true), $journal->find('purged')[0]->endedAt, 30);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testPruneOfOneQueueLeavesTheOthersAlone(string $name): void
    {
        $journal = $this->prepare($name);
        foreach (['orders', 'mails'] as $queue) {
            self::queue($queue)->push(1, id: 'is there');
            foreach (['ended' => 1, 'open' => null, 'open too' => null] as $id => $ended) {
                $this->pdo()->prepare("insert into delayqueue_jobs (queue, job, made, state, ended) values (?, ?, 1, 'done', ?)")->execute([$queue, $id, $ended]);
            }
        }
        $this->assertSame([1, 2], [$journal->prune('1h', queue: 'orders'), $journal->gone()]);
        $this->assertSame([2, 3], [$this->rows("queue = 'orders' and state = 'gone'"), $this->rows("queue = 'mails' and state = 'done'")]);
        $this->assertSame([1, 2], [$journal->prune('1h'), $journal->gone()]);
        $this->assertSame([0, 0], [$journal->prune('1h'), $journal->gone()]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testPruneEndsNothingOfAQueueThatIsNotInThisRedis(string $name): void
    {
        $this->prepare($name);
        self::queue()->push(1, id: 'order-1');
        $this->pdo()->exec("insert into delayqueue_jobs (queue, job, made, state) values ('orders', 'order-1', 1, 'waiting')");
        $prefixed = static fn (string $queue): DelayQueue => new DelayQueue($queue, RedisServer::shared()->dsn(), ['prefix' => "shop-$name-"]);
        $journal = new Journal($this->pdo(), $prefixed, report: $this->report(...));
        $this->assertSame([0, 0], [$journal->prune(0), $journal->gone()]);
        $this->assertSame('waiting', $journal->state('order-1'));
        $this->assertSame(['queue orders cannot be asked for its jobs: queue orders is not in this Redis'], $this->reports);
        // A queue whose last job has ended is known.
        $prefixed('orders')->push(1, id: 'order-2');
        $prefixed('orders')->purge();
        $this->assertSame([0, 1], [$journal->prune(0), $journal->gone()]);
    }

    public function testPruneOpensOnlyQueuesOfWhichJobsMayBeGone(): void
    {
        $this->prepare('sqlite');
        $this->pdo()->exec("insert into delayqueue_jobs (queue, job, made, state, ended) values ('old', 'a', 1, 'done', 1)");
        $journal = new Journal($this->pdo(), static fn (string $queue) => throw new RuntimeException("there is no $queue"));
        $this->assertSame([1, 0], [$journal->prune('1h'), $journal->gone()]);
        $this->pdo()->exec("insert into delayqueue_jobs (queue, job, made, state, ended) values ('old', 'a', 1, 'done', 4000000000000000)");
        $this->assertSame([0, 0], [$journal->prune('1h'), $journal->gone()]);
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

    protected function setUp(): void
    {
        RedisServer::shared()->flush();
        [$this->reports, $this->lock] = [[], null];
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

    private function prepare(string $name, int $batch = 200, float $atMost = 1.0): Journal
    {
        [$this->name, $this->database] = [$name, self::database($name)->fresh()];
        Schema::install($this->pdo(), jobs: true);

        return new Journal($this->pdo(...), self::queue(...), $batch, $atMost, payloads: true, report: $this->report(...));
    }

    private function report(string $what, \Throwable $error): void
    {
        $this->reports[] = "$what: {$error->getMessage()}";
    }

    private function pdo(): PDO
    {
        $pdo = self::database($this->name)->pdo($this->database);
        $patience = ['pgsql' => "set lock_timeout = '1s'", 'mysql' => 'set innodb_lock_wait_timeout = 1', 'sqlite' => 'pragma busy_timeout = 300'];
        $pdo->exec($patience[self::database($this->name)->driver()]);

        return $pdo;
    }

    private function rows(string $where = '1 = 1'): int
    {
        return (int) $this->pdo()->query("select count(*) from delayqueue_jobs where $where")->fetchColumn();
    }

    private function worker(int $batch, float $atMost): Process
    {
        $server = self::database($this->name);
        $command = [PHP_BINARY, __DIR__ . '/programs/journal.php', $server->dsn($this->database), (string) $server->user(), (string) $server->password()];

        return new Process([...$command, RedisServer::shared()->dsn(), (string) $batch, (string) $atMost]);
    }

    private static function queue(string $name = 'orders', int $maxAttempts = 10, float $ttr = 60): DelayQueue
    {
        $dsn = $name === 'elsewhere' ? 'redis://127.0.0.1:1' : RedisServer::shared()->dsn();

        return new DelayQueue($name, $dsn, ['maxAttempts' => $maxAttempts, 'backoff' => Backoff::fixed(0), 'ttr' => $ttr]);
    }

    /** Takes back the jobs whose lease is over. */
    private static function expired(DelayQueue $queue): ?Job
    {
        $queue->count(State::Ready);

        return null;
    }

    /** @return list<array{int, string, ?string}> */
    private static function runs(JobRecord $record): array
    {
        return array_map(static fn (array $run): array => [$run['attempt'], $run['outcome'], $run['error']], $record->runs);
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
