<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Database\Internal\PdoConnection;
use DelayQueue\Database\Journal;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;
use DelayQueue\Job;
use DelayQueue\NewJob;
use DelayQueue\OnDuplicate;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\JournalTestCase;
use DelayQueue\Tests\Database\Support\ShiftedClock;
use DelayQueue\Tests\Support\RedisClient;
use PDO;
use RuntimeException;
use UnexpectedValueException;

/** A queue whose Redis came back empty, rebuilt from the journal. */
final class RebuildTest extends JournalTestCase
{
    private Outbox $outbox;

    private Journal $journal;

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testJobsComeBackAsTheyWerePushed(string $name): void
    {
        $this->prepare($name);
        $moment = new DateTimeImmutable('2040-01-01 00:00:00.123456 UTC');
        $began = microtime(true);
        $this->outbox->push('orders', new NewJob(['n' => 1], delay: '1h', id: 'hour', priority: 7, ttr: 9, maxAttempts: 3, backoff: Backoff::fixed('2s'), timeout: 4, headers: ['tenant' => 'x'], expires: '2h'));
        $this->outbox->push('orders', ['payload' => ['n' => 2], 'delay' => $moment, 'id' => 'moment']);
        $this->outbox->push('orders', new NewJob("caf\u{E9}", id: 'now'));
        $this->outbox->push('mails', new NewJob('x', id: 'other'));
        $this->outbox->flush();
        $look = static fn (string $id): array => array_diff_key(get_object_vars(self::queue()->peek($id)), ['dueAt' => 1, 'expiresAt' => 1, 'firstDueAt' => 1, 'earliestAt' => 1]);
        [$was, $due] = [array_map($look, ['hour', 'moment', 'now']), self::queue()->peek('hour')->dueAt];
        $this->empty();

        $this->assertSame(3, $this->journal->rebuild('orders'));
        $this->assertEquals($was, array_map($look, ['hour', 'moment', 'now']));
        $job = self::queue()->peek('hour');
        $this->assertGreaterThanOrEqual($began + 3600, $job->dueAt);
        $this->assertEqualsWithDelta($due, $job->dueAt, 5);
        $this->assertEqualsWithDelta($due + 7200, $job->expiresAt, 5);
        $this->assertSame('2040-01-01 00:00:00.123456', self::moment(self::queue()->peek('moment')->dueAt));
        $this->assertSame(0, $this->journal->rebuild('orders'));
        $this->assertSame(3, self::queue()->count());
        $this->assertNull(self::queue('mails')->peek('other'));
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testOnlyWhatHasNotEndedComesBack(string $name): void
    {
        $this->prepare($name);
        $queue = $this->journal->watch(self::queue());
        foreach (['done', 'failed', 'released', 'buried', 'waiting', 'cancelled'] as $id) {
            $this->outbox->push('orders', new NewJob($id, id: $id, delay: $id === 'waiting' || $id === 'cancelled' ? '1h' : 0));
        }
        $this->outbox->flush();
        $this->outbox->cancel('orders', 'cancelled');
        $this->outbox->flush();
        $queue->drain(static fn (Job $job) => match ($job->id) {
            'done' => null,
            'failed' => throw new RuntimeException('no stock'),
            'released' => throw new Release('10m'),
            'buried' => throw new Bury('no such order'),
        }, limit: 4);
        $released = self::queue()->peek('released')->dueAt;
        $this->empty();

        $this->assertSame(4, $this->journal->rebuild('orders'));
        $this->assertSame([State::Ready, State::Delayed, State::Buried, State::Delayed], array_map(static fn (string $id): State => self::queue()->peek($id)->state, ['failed', 'released', 'buried', 'waiting']));
        // The delay of a release counts from when it was written.
        $this->assertGreaterThanOrEqual($released, self::queue()->peek('released')->dueAt);
        $this->assertEqualsWithDelta($released, self::queue()->peek('released')->dueAt, 5);
        [$failed, $buried] = [self::queue()->peek('failed'), self::queue()->peek('buried')];
        $this->assertSame([0, 'RuntimeException: no stock'], [$failed->attempts, $failed->lastError]);
        $this->assertSame('no such order', $buried->lastError);
        $this->assertEqualsWithDelta(microtime(true), $buried->dueAt, 30);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testJobsOfPlainPushesComeBackFromTheirFirstRunOn(string $name): void
    {
        $this->prepare($name);
        $queue = $this->journal->watch(self::queue());
        $queue->push(['n' => 1], id: 'order-1', priority: 7, ttr: 9, maxAttempts: 3, headers: ['tenant' => 'x']);
        $queue->push(['n' => 2], id: 'order-2');
        $queue->push(['n' => 3], id: 'order-3', delay: '1h');
        $queue->drain(static fn () => throw new Release('10m'));
        $was = self::queue()->peek('order-1');
        $this->empty();
        $this->assertSame(2, $this->journal->rebuild('orders'));
        $is = self::queue()->peek('order-1');
        $this->assertSame(
            [$was->body, $was->priority, $was->ttr, $was->maxAttempts, $was->headers, $was->createdAt, State::Delayed],
            [$is->body, $is->priority, $is->ttr, $is->maxAttempts, $is->headers, $is->createdAt, $is->state],
        );
        $this->assertGreaterThanOrEqual($was->dueAt, $is->dueAt);
        $this->assertSame([], self::queue()->receipts(), 'no relay would forget them');
    }

    /** @dataProvider dialects */
    #[\PHPUnit\Framework\Attributes\DataProvider('dialects')]
    public function testAConnectionThatMakesStringsOfNullsBringsThemAllTheSame(string $name): void
    {
        $this->prepare($name);
        $pdo = $this->pdo();
        $pdo->setAttribute(PDO::ATTR_ORACLE_NULLS, PDO::NULL_TO_STRING);
        $journal = new Journal($pdo, self::queue(...), payloads: true);
        $queue = $journal->watch(self::queue());
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'id' => "order-$n"], range(1, 3)));
        $queue->drain(static fn () => throw new Release('10m'));
        $this->outbox->push('orders', new NewJob(4, id: 'order-4', delay: '1h'));
        $this->empty();
        $this->assertSame(4, $journal->rebuild('orders'));
        $this->assertSame(4, self::queue()->count());
        $this->assertSame([null, null], array_map(static fn (int $n): ?string => self::queue()->peek("order-$n")->lastError, [1, 4]));
        [$record] = $journal->find('order-4');
        $this->assertSame([null, null, null, null], [$record->beganAt, $record->endedAt, $record->worker, $record->error]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testNothingIsPushedOverAJobThatIsThere(string $name): void
    {
        $this->prepare($name);
        $this->outbox->push('orders', new NewJob('old', id: 'order-1', delay: '1h', onDuplicate: OnDuplicate::Replace));
        $this->outbox->flush();
        self::queue()->update('order-1', 'new');
        self::queue()->forgetReceipts(...self::queue()->receipts());
        $this->assertSame(0, $this->journal->rebuild('orders'));
        $this->assertSame('new', self::queue()->peek('order-1')->payload);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testOfAnIdTheFirstOneCountsOrTheLastThatReplaces(string $name): void
    {
        $this->prepare($name);
        foreach (['keep' => OnDuplicate::Keep, 'replace' => OnDuplicate::Replace] as $id => $onDuplicate) {
            foreach ([1, 2, 3] as $n) {
                $this->outbox->push('orders', new NewJob($n, id: $id, delay: '1h', onDuplicate: $onDuplicate));
                usleep(2000);
            }
        }
        $this->assertSame(2, $this->journal->rebuild('orders'));
        $this->assertSame([1, 3], [self::queue()->peek('keep')->payload, self::queue()->peek('replace')->payload]);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testARelayBeforeOrAfterwardsMakesNoSecondJob(string $name): void
    {
        $this->prepare($name);
        $relay = new Relay($this->pdo(), self::queue(...), after: 0);
        $run = fn (): int => self::queue()->drain(static fn () => null);
        foreach (['one', 'two'] as $id) {
            $this->outbox->push('orders', new NewJob($id, id: $id));
        }
        $this->outbox->push('orders', new NewJob('its own id'));

        $this->assertSame(3, $this->journal->rebuild('orders'));
        $this->assertSame(3, $run());
        // Nobody has told the journal that they are done.
        $this->assertSame(3, $relay->runOnce());
        $this->assertSame(0, $this->journal->rebuild('orders'));
        $this->assertSame(0, $run());

        $this->outbox->push('orders', new NewJob('three', id: 'three'));
        $this->assertSame(1, $relay->runOnce());
        $this->assertSame(1, $run());
        $this->assertSame(0, $this->journal->rebuild('orders'));
        $this->assertSame(0, $run());
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAJobThatOnlyItsWorkerKeptIsLeftToTheRelayWhileItsRowWaits(string $name): void
    {
        $this->prepare($name);
        $outbox = new Outbox($this->pdo(), self::queue(...));
        $queue = $this->journal->watch(self::queue());
        $outbox->push('orders', new NewJob(1, id: 'order-1'));
        $outbox->flush();
        $queue->drain(static fn () => throw new Release(0), limit: 1);
        $this->empty();
        $this->assertSame(0, $this->journal->rebuild('orders'));
        $this->assertSame(1, (new Relay($this->pdo(), self::queue(...), after: 0))->runOnce());
        $this->assertSame(1, self::queue()->count());
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testNoJobIsEarlyWhereTheClocksDiffer(string $name): void
    {
        foreach ([-3600, 3600] as $seconds) {
            $this->prepare($name);
            $shifted = new ShiftedClock(PdoConnection::of($this->pdo()), $seconds);
            $began = microtime(true);
            (new Outbox($shifted, self::queue(...), journal: true))->push('orders', new NewJob(1, delay: 100, id: 'delay'));
            (new Outbox($shifted, self::queue(...), journal: true))->push('orders', ['payload' => 1, 'delay' => new DateTimeImmutable('2040-01-01 UTC'), 'id' => 'moment']);
            $journal = new Journal($shifted, self::queue(...));
            $queue = $journal->watch(self::queue());
            (new Outbox($shifted, self::queue(...), journal: true))->push('orders', new NewJob(1, id: 'released'));
            $this->assertSame(3, $journal->rebuild('orders'));
            $queue->drain(static fn () => throw new Release(100));
            $this->assertSame('released', $journal->state('released'));
            $this->empty();
            $this->assertSame(3, $journal->rebuild('orders'));
            $this->assertSame('2040-01-01 00:00:00.000000', self::moment(self::queue()->peek('moment')->dueAt));
            foreach (['delay', 'released'] as $id) {
                $this->assertGreaterThanOrEqual($began + 100, self::queue()->peek($id)->dueAt);
                $this->assertEqualsWithDelta($began + 100, self::queue()->peek($id)->dueAt, 30);
            }
            $this->empty();
        }
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testALargeQueueComesBackByPages(string $name): void
    {
        $this->prepare($name);
        $this->outbox->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n, 'id' => $n % 2 === 0 ? "order-$n" : null], range(1, 901)));
        $this->assertSame(901, $this->journal->rebuild('orders'));
        $seen = [];
        self::queue()->drain(static function (Job $job) use (&$seen): void {
            $seen[] = $job->payload;
        });
        $this->assertEqualsCanonicalizing(range(1, 901), $seen);
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testARebuildThatDiedIsRepeated(string $name): void
    {
        $this->prepare($name);
        $queue = $this->journal->watch(self::queue());
        $queue->push(1, id: 'order-1');
        $queue->drain(static fn () => throw new Release(0), limit: 1);
        $this->journal->flush();
        $this->empty();
        // This user may push, and may not forget: as a process that dies between the two.
        preg_match('~unix://(.*)\?~', RedisServer::shared()->dsn(), $socket);
        $redis = new RedisClient($socket[1]);
        $redis->ask('ACL', 'SETUSER', 'dies', 'on', '>x', '~*', '&*', '+@all', '-zrem');
        $dying = new Journal($this->pdo(), static fn (string $name): DelayQueue => new DelayQueue($name, str_replace('redis+unix://', 'redis+unix://dies:x@', RedisServer::shared()->dsn())));
        try {
            $dying->rebuild('orders');
            $this->fail('it did not die');
        } catch (DelayQueue\ServerException) {
        }
        $redis->ask('ACL', 'DELUSER', 'dies');
        $this->assertSame(1, self::queue()->count());
        [$receipt] = self::queue()->receipts();
        self::queue()->drain(static fn () => null);
        $this->assertSame(0, $this->journal->rebuild('orders'), 'it is known');
        $this->assertSame(0, self::queue()->count());

        // A relay forgets it when it is old.
        $redis->ask('ZADD', 'dq:{orders}:receipts', '1', $receipt);
        $this->outbox->push('orders', new NewJob(2));
        $relay = new Relay($this->pdo(), self::queue(...), after: 0);
        $relay->runOnce();
        $this->assertSame(1, $relay->sweep());
        $this->assertNotContains($receipt, self::queue()->receipts());
    }

    /** @dataProvider databases */
    #[\PHPUnit\Framework\Attributes\DataProvider('databases')]
    public function testAQueueOfOtherKeysIsRefused(string $name): void
    {
        $this->prepare($name);
        $this->outbox->push('orders', new NewJob(1, id: 'order-1'));
        $sealing = static fn (string $name): DelayQueue => new DelayQueue($name, RedisServer::shared()->dsn(), ['keys' => ['k1' => 'base64:' . base64_encode(random_bytes(32))]]);
        $this->expectException(UnexpectedValueException::class);
        $this->expectExceptionMessage('order-1');
        (new Journal($this->pdo(), $sealing))->rebuild('orders');
    }

    protected function prepare(string $name, int $batch = 200, float $atMost = 1.0): Journal
    {
        $this->journal = parent::prepare($name, $batch, $atMost);
        $this->outbox = new Outbox($this->pdo(), self::queue(...), journal: true);

        return $this->journal;
    }

    /** Redis has forgotten everything. */
    private function empty(): void
    {
        RedisServer::shared()->flush();
    }

    private static function moment(float $seconds): string
    {
        return DateTimeImmutable::createFromFormat('U.u', sprintf('%.6F', $seconds))->format('Y-m-d H:i:s.u');
    }
}
