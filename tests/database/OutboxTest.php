<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Database\Inbox;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;
use DelayQueue\DuplicateJobException;
use DelayQueue\OnDuplicate;
use DelayQueue\PayloadException;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\OutboxTestCase;
use PDO;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;
use ValueError;

/** Jobs that are pushed when the transaction of the application is committed. */
final class OutboxTest extends OutboxTestCase
{
    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testAJobIsPushedWhenItsOrderIsStored(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $id = $outbox->transaction(function (PDO $pdo) use ($outbox): string {
            $this->assertSame($this->pdo, $pdo);
            $pdo->exec('insert into orders values (4711)');
            $id = $outbox->push('orders', ['order' => 4711], delay: '15m', id: 'order-4711');
            $this->assertSame(0, $this->queue()->count(), 'not before the commit');

            return $id;
        });

        $this->assertSame('order-4711', $id);
        $job = $this->queue()->peek($id);
        $this->assertSame(['order' => 4711], $job?->payload);
        $this->assertEqualsWithDelta(900.0, $job->dueAt - $this->queue()->now(), 5.0);
        $this->assertSame(1, $this->rows(), 'the relay deletes it');
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testWhatIsRolledBackIsNotPushed(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        try {
            $outbox->transaction(function (PDO $pdo) use ($outbox): void {
                $outbox->push('orders', 1);
                throw new RuntimeException('the card was refused');
            });
            $this->fail('it is passed on');
        } catch (RuntimeException $error) {
            $this->assertSame('the card was refused', $error->getMessage());
        }
        $this->pdo->beginTransaction();
        $outbox->push('orders', 2);
        $this->pdo->exec('savepoint s');
        $outbox->push('orders', 3);
        $outbox->cancel('orders', 'kept');
        $this->pdo->exec('rollback to savepoint s');
        $this->pdo->commit();
        $this->queue()->push('kept', id: 'kept');

        $this->assertSame(1, $outbox->flush(), 'it looks what is there');
        $this->assertSame(1, $this->relay()->runOnce());
        $this->assertEqualsCanonicalizing([2, 'kept'], $this->work());

        $this->pdo->beginTransaction();
        $outbox->push('orders', 4);
        $this->pdo->rollBack();
        $this->assertSame([0, []], [$outbox->flush(), $this->work()]);
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testARowKeepsWhatAPushHas(string $server): void
    {
        $this->begin($server);
        $moment = new DateTimeImmutable('+1 hour');
        $jobs = [
            ['payload' => ['x' => 'é'], 'delay' => $moment, 'id' => 'all', 'priority' => 7, 'ttr' => 90, 'maxAttempts' => 3, 'backoff' => Backoff::fixed('2s'),
                'timeout' => 5, 'headers' => ['h' => 'ü', 'n' => ''], 'expires' => '1h'],
            ['payload' => null, 'delay' => '1.5h', 'id' => 'few', 'retryUntil' => '2h'],
        ];
        $direct = $this->queue('direct', ['ttr' => 33, 'priority' => 9]);
        $direct->pushMany($jobs);
        // The defaults are those of the producer's queue, not of the relay's.
        $outbox = $this->outbox(['ttr' => 33, 'priority' => 9]);
        $this->assertSame(['all', 'few'], $outbox->pushMany('flushed', $jobs));
        $this->assertSame(2, $outbox->flush());
        $outbox->pushMany('relayed', $jobs);
        $this->assertSame(4, $this->relay(['ttr' => 44])->runOnce());

        foreach (['all', 'few'] as $id) {
            $asPushed = $direct->peek($id);
            foreach (['flushed', 'relayed'] as $queue) {
                $job = $this->queue($queue)->peek($id);
                foreach (['body', 'headers', 'priority', 'ttr', 'maxAttempts', 'timeout'] as $property) {
                    $this->assertSame($asPushed?->$property, $job?->$property, "$queue $id $property");
                }
                $this->assertSame((string) $asPushed?->backoff, (string) $job?->backoff);
                $this->assertEqualsWithDelta($asPushed?->dueAt, $job?->dueAt, 5.0);
                $this->assertGreaterThanOrEqual($asPushed?->dueAt, $job?->dueAt, 'never early');
                foreach (['expiresAt', 'retryUntil'] as $property) {
                    $this->assertEqualsWithDelta($asPushed?->$property, $job?->$property, 5.0);
                }
            }
        }
        $this->assertSame((float) $moment->format('U.u'), $this->queue('relayed')->peek('all')?->dueAt, 'a moment is that of Redis');
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testPayloadsAreBytes(string $server): void
    {
        $this->begin($server);
        $options = ['format' => 'raw', 'maxPayload' => 4 << 20];
        $bytes = implode('', array_map(chr(...), range(0, 255)));
        $payloads = ['', "\0", $bytes, str_repeat($bytes, 8 << 10), '\\x41', "it's; -- ?"];
        $outbox = $this->outbox($options);
        foreach ([false, true] as $isFlushed) {
            foreach ($payloads as $number => $payload) {
                $outbox->push('raw', $payload, id: "p$number");
            }
            $isFlushed ? $outbox->flush() : $outbox->discard();
            $this->assertSame(count($payloads), $this->relay()->drain(), 'also where one batch takes not all');
            foreach ($payloads as $number => $payload) {
                $this->assertSame(md5($payload), md5((string) $this->queue('raw', $options)->peek("p$number")?->payload), "$number");
            }
            $this->queue('raw')->purge();
        }
        $this->assertSame(0, $this->rows());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testFlushAndRelayPushARowOnce(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $ids = $outbox->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n], range(1, 1100)));
        $this->assertCount(1100, array_unique($ids));
        $this->assertSame(1100, $outbox->flush());
        $this->assertSame(0, $outbox->flush(), 'once');
        $this->assertSame(range(1, 1100), $this->work());

        $relay = $this->relay();
        $this->assertSame([500, 500, 100, 0], [$relay->runOnce(), $relay->runOnce(), $relay->runOnce(), $relay->runOnce()]);
        $this->assertSame([[], 0], [$this->work(), $this->rows()]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAPushOutsideOfATransactionNeedsNoRowButWhereRedisIsAway(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $this->assertSame('a', $outbox->pushNow('orders', 1, id: 'a'));
        $this->assertSame([0, 1], [$this->rows(), $this->queue()->count()]);

        $away = RedisServer::start();
        $dsn = $away->dsn();
        $failing = new Outbox($this->pdo, static fn (string $name): DelayQueue => new DelayQueue($name, $dsn));
        $away->stop();
        $failing->pushNow('orders', 2, id: 'b');
        $failing->pushNow('orders', 3, delay: '1h');
        $this->assertSame(2, $this->rows());
        $this->assertSame(2, $this->relay()->runOnce());
        $this->assertSame([1, 2], $this->work());
        $this->assertSame(1, $this->queue()->count());

        // A wrong payload is refused wherever it goes.
        $this->expectException(PayloadException::class);
        $failing->pushNow('orders', "\xff");
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAPushOutsideOfATransactionTellsOfADuplicateWhereRedisIsThere(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $push = static fn (int $payload, OnDuplicate $onDuplicate): string => $outbox->pushNow('orders', $payload, id: 'a', onDuplicate: $onDuplicate);
        $refused = function (callable $push): void {
            try {
                $push();
                $this->fail('the id is taken');
            } catch (DuplicateJobException) {
                $this->assertSame(0, $this->rows());
            }
        };
        $push(1, OnDuplicate::Fail);
        $refused(static fn () => $push(2, OnDuplicate::Fail));
        $push(3, OnDuplicate::Keep);
        $push(4, OnDuplicate::Replace);
        $job = $this->queue()->reserve(1);
        $this->assertSame(4, $job->payload);
        $refused(static fn () => $push(5, OnDuplicate::Replace));
        $job->ack();

        $away = RedisServer::start();
        $dsn = $away->dsn();
        $failing = new Outbox($this->pdo, static fn (string $name): DelayQueue => new DelayQueue($name, $dsn));
        $away->stop();
        $push(6, OnDuplicate::Fail);
        $failing->pushNow('orders', 7, id: 'a', onDuplicate: OnDuplicate::Fail);
        $this->relay()->runOnce();
        $this->assertSame([6], $this->work());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testOutsideOfATransactionAPushIsCommittedByItself(string $server): void
    {
        $this->begin($server);
        $this->outbox()->push('orders', 1);
        try {
            $this->outbox()->pushMany('orders', [['payload' => 2], ['payload' => 3, 'delay' => 'never']]);
            $this->fail('it is refused');
        } catch (ValueError) {
        }
        $other = self::database($server)->pdo($this->database);
        $this->assertSame(1, (int) $other->query('select count(*) from ' . Schema::OUTBOX)->fetchColumn(), 'all or none');
        ['rows' => $rows, 'oldest' => $oldest] = $this->outbox()->waiting();
        $this->assertSame(1, $rows);
        $this->assertEqualsWithDelta(1.0, $oldest, 30.0);
        $this->relay()->runOnce();
        $this->assertSame(['rows' => 0, 'oldest' => null], $this->outbox()->waiting());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAJobOfATakenIdIsKeptOrReplaced(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        foreach ([1, 2] as $n) {
            $outbox->push('orders', $n, id: 'kept');
            $outbox->push('orders', $n, id: 'replaced', onDuplicate: OnDuplicate::Replace);
        }
        $outbox->flush();
        $this->relay()->runOnce();
        $this->assertEqualsCanonicalizing([1, 2], $this->work());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testTheJournalHasACopy(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox(journal: true);
        $outbox->push('orders', ['a' => 1], delay: 60, id: 'a');
        $outbox->pushMany('orders', [['payload' => 1, 'id' => 'b'], ['payload' => 2, 'id' => 'b'], ['payload' => 3, 'id' => 'c']]);
        $outbox->pushNow('orders', 'now', id: 'd');
        $outbox->cancel('orders', 'c');
        $outbox->flush();
        $copies = $this->pdo->query('select j.job, j.state, j.due - o.due as apart from ' . Schema::JOBS . ' j left join ' . Schema::OUTBOX . ' o on o.job = j.job and o.due = j.due order by j.job')->fetchAll(PDO::FETCH_NUM);
        $this->assertEquals([['a', 'waiting', 0], ['b', 'waiting', 0], ['c', 'cancelled', null], ['d', 'waiting', 0]], array_values(array_unique($copies, SORT_REGULAR)));
        $this->assertSame(3, $this->queue()->count());
        $job = $this->queue()->peek('a');
        $made = (int) $this->pdo->query('select made from ' . Schema::JOBS . " where job = 'a'")->fetchColumn();
        $this->assertSame($made, (int) round($job->createdAt * 1000), 'journal and Redis have one time of its making');
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testJobsOfOneIdAndMomentAreSeveralInTheJournal(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox(journal: true);
        $inbox = new Inbox($this->pdo);
        $done = 0;
        for ($i = 0; $i < 30; $i++) {
            $this->pdo->beginTransaction();
            $outbox->push('orders', 'old', id: "o$i");
            $outbox->cancel('orders', "o$i");
            $outbox->push('orders', 'new', id: "o$i");
            $this->pdo->commit();
            $outbox->flush();
            $job = $this->queue()->reserve();
            $this->assertSame('new', $job?->payload);
            $done += $inbox->once($job, static fn (): int => 1) ? 1 : 0;
            $job->ack();
        }
        $this->assertSame(30, $done);
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testManyLargeJobsAreSeveralStatements(string $server): void
    {
        $this->begin($server);
        $payload = str_repeat('x', 60_000);
        $this->outbox()->pushMany('orders', array_map(static fn (): array => ['payload' => $payload], range(1, 400)));
        $this->assertSame(400, $this->rows());
    }

    public function testAProducerThatNeverFlushesDoesNotGrow(): void
    {
        $this->begin('sqlite');
        $this->pdo->exec('pragma synchronous = off');
        $outbox = $this->outbox();
        $payload = str_repeat('x', 20_000);
        $before = memory_get_usage();
        for ($i = 0; $i < 2000; $i++) {
            $outbox->push('orders', $payload);
        }
        $this->assertLessThan(16 << 20, memory_get_usage() - $before);
        $this->assertLessThan(500, $outbox->flush(), 'it remembers 8 MiB, and sends what it can in a moment');
        $this->relay()->drain();
        $this->assertSame(2000, $this->queue()->count());
    }
}
