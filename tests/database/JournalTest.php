<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Bury;
use DelayQueue\Database\Inbox;
use DelayQueue\Database\JobRecord;
use DelayQueue\Job;
use DelayQueue\Release;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\JournalTestCase;
use RuntimeException;

/** The history of each job. */
final class JournalTest extends JournalTestCase
{
    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
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

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
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

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
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
}
