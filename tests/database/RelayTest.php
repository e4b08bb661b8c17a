<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\Database\Internal\PdoConnection;
use DelayQueue\Database\Relay;
use DelayQueue\Database\Schema;
use DelayQueue\NewJob;
use DelayQueue\Testing;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\OutboxTestCase;
use DelayQueue\Tests\Database\Support\ShiftedClock;
use PDO;
use PHPUnit\Framework\Attributes\DataProvider;

/** The relay brings rows to Redis. */
final class RelayTest extends OutboxTestCase
{
    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testARowIsLeftToItsOwnRequestForAWhile(string $server): void
    {
        $this->begin($server);
        $this->outbox()->push('orders', new NewJob(1));
        $this->assertSame([0, 1], [$this->relay(after: 60.0)->runOnce(), $this->rows()]);
        $this->assertSame([1, 0], [$this->relay(after: 0.0)->runOnce(), $this->rows()]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testRowsWaitForARedisThatIsAwayAndOthersGoOn(string $server): void
    {
        $this->begin($server);
        $away = RedisServer::start();
        $dsn = $away->dsn();
        $isAway = true;
        $make = function (string $name) use ($dsn, &$isAway): DelayQueue {
            return new DelayQueue($name, $name === 'away' && $isAway ? $dsn : RedisServer::shared()->dsn());
        };
        $outbox = $this->outbox();
        $outbox->pushMany('away', array_map(static fn (int $n): array => ['payload' => $n], range(1, 12)));
        $outbox->push('here', new NewJob(1));
        $away->stop();

        $report = function (string $what): void {
            $this->reports[] = $what;
        };
        $relay = new Relay($this->pdo, $make, 5, 0.0, $report);
        // Two batches are full of rows that wait.
        $this->assertSame([0, 1, 12], [$relay->runOnce(), $relay->runOnce(), $this->rows()]);
        $this->assertSame(['the rows of queue away are tried again in 0.1 s'], $this->reports);
        $this->assertSame([1], $this->work('here'));

        $isAway = false;
        $again = new Relay($this->pdo, $make, 5, 0.0, $report);
        $this->assertSame([5, 5, 2], [$again->runOnce(), $again->runOnce(), $again->runOnce()]);
        $this->assertSame(range(1, 12), $this->work('away'));
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testNoRowIsLockedWhileRedisIsAway(string $server): void
    {
        $this->begin($server);
        $redis = RedisServer::start();
        $relay = new Relay($this->pdo, static fn (string $name): DelayQueue => new DelayQueue($name, $redis->dsn(), ['readTimeout' => 0.2]), after: 0.0, report: function (string $what): void {
            $this->reports[] = $what;
        });
        $outbox = $this->outbox();
        $outbox->push('orders', new NewJob(1));
        $this->assertSame(1, $relay->runOnce());
        $redis->stop();
        $outbox->push('orders', new NewJob(2));
        $relay->runOnce();
        $this->assertCount(1, $this->reports);
        // Now it knows: it asks Redis before it takes the row. A lock on the row would fail this.
        for ($end = hrtime(true) + 10_000_000_000; count($this->reports) < 4 && hrtime(true) < $end;) {
            $other = self::database($server)->pdo($this->database);
            $relay->runOnce();
            $this->assertSame(1, $other->exec('update ' . Schema::OUTBOX . " set due = due + 1"));
        }
        $this->assertSame(
            ['0.1', '0.2', '0.4', '0.8'],
            array_map(static fn (string $report): string => substr($report, -5, 3), $this->reports),
            'later and later',
        );
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testARowThatRedisRefusesAloneStays(string $server): void
    {
        $this->begin($server);
        $this->outbox()->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n, 'id' => "o$n"], range(1, 6)));
        $set = $this->pdo->prepare('update ' . Schema::OUTBOX . ' set options = ? where job = ?');
        $set->execute(['{"priority":-1,"backoff":"fixed 1s"}', 'o3']);
        $set->execute(['no JSON', 'o5']);
        $relay = $this->relay();
        $this->assertSame([4, 0, 2], [$relay->runOnce(), $relay->runOnce(), $this->rows()]);
        $this->assertSame([1, 2, 4, 6], $this->work());
        sort($this->reports);
        $this->assertCount(2, $this->reports, 'once in a minute');
        $this->assertMatchesRegularExpression('/^job o3 of queue orders, row [0-9a-f-]{36}, is tried again in 60\.0 s: .*"priority" must be between 0 and/', $this->reports[0]);
        $this->assertMatchesRegularExpression('/^job o5 of queue orders, row [0-9a-f-]{36}, is tried again in 60\.0 s: its options are not JSON$/', $this->reports[1]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAQueueThatTakesNoneWaitsAsAWhole(string $server): void
    {
        $this->begin($server);
        $queue = $this->queue('broken');
        $queue->push('there', delay: '1h');
        $this->redis("SET {$queue->settings()->prefix}:{broken}:jobs text");
        $outbox = $this->outbox();
        $outbox->pushMany('broken', array_map(static fn (int $n): array => ['payload' => $n], range(1, 9)));
        $outbox->push('orders', new NewJob(1));
        $relay = $this->relay();
        $this->assertSame([1, 9], [$relay->runOnce(), $this->rows()]);
        $this->assertCount(1, $this->reports);
        $this->assertStringContainsString('the rows of queue broken are tried again in 0.1 s: ', $this->reports[0]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testReceiptsAreForgottenOnceTheirRowsAreGone(string $server): void
    {
        $this->begin($server);
        // A producer enters a queue into the index once: after a flush names of their own are needed.
        [$orders, $other] = ["orders-$server", "other-$server"];
        ini_set('delayqueue.testing', '1');
        $outbox = $this->outbox();
        $outbox->pushNow($other, new NewJob('no row'));
        $outbox->push($orders, new NewJob('row is gone'));
        $outbox->flush();
        $this->relay()->runOnce();
        $outbox->push($orders, new NewJob('row is there'));
        $outbox->flush();
        $this->queue($orders)->pushOnce([['receipt' => 'of somebody else', 'payload' => 1]]);
        try {
            $this->assertSame(0, $this->relay()->sweep(), 'they are young');
            Testing::travel('11m');
            $relay = $this->relay();
            $this->assertSame([2, 0], [$relay->sweep(), $relay->sweep()]);
            $this->assertCount(0, $this->queue($other)->receipts());
            $this->assertCount(2, $this->queue($orders)->receipts());
            $relay->runOnce();
            $this->assertSame(1, $relay->sweep());
        } finally {
            Testing::travelBack();
            ini_restore('delayqueue.testing');
        }
        $this->assertSame(['of somebody else'], $this->queue($orders)->receipts());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testNoClockButThoseOfDatabaseAndRedisCounts(string $server): void
    {
        foreach (['-1 hour' => -3600, '+1 hour' => 3600] as $shift) {
            $this->begin($server);
            RedisServer::shared()->flush();
            $connection = new ShiftedClock(PdoConnection::of($this->pdo), $shift);
            $outbox = $this->outbox();
            $outbox->push('orders', new NewJob(1, 60));
            $outbox->push('orders', new NewJob(2));
            $moment = new \DateTimeImmutable('+1 hour');
            $outbox->push('orders', ['payload' => 3, 'delay' => $moment, 'id' => 'moment']);
            $before = $this->queue()->now();
            // As a database would have stored them whose clock is wrong.
            $this->pdo->exec('update ' . Schema::OUTBOX . " set placed = placed + {$shift}000000");
            $this->pdo->exec('update ' . Schema::OUTBOX . " set due = due + {$shift}000000 where job <> 'moment'");
            (new Relay($connection, fn (string $name): DelayQueue => $this->queue($name), after: 0.0))->runOnce();
            $this->assertSame([2], $this->work());
            $late = $this->queue()->peekDelayed()->dueAt - ($before + 60);
            $this->assertGreaterThan(-0.5, $late, 'the row is some milliseconds older than $before');
            $this->assertLessThan(5.0, $late);
            $this->assertSame((float) $moment->format('U.u'), $this->queue()->peek('moment')->dueAt);
        }
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testARowThatWasCommittedLateIsFound(string $server): void
    {
        $this->begin($server);
        $relay = $this->relay();
        $relay->runOnce();
        $this->outbox()->push('orders', new NewJob(1));
        // Its transaction was open for an hour.
        $old = \DelayQueue\Database\Internal\Row::idAt((int) (microtime(true) * 1000) - 3_600_000);
        $this->pdo->exec('update ' . Schema::OUTBOX . " set id = '$old', placed = placed - 3600000000");
        for ($looks = 1; $relay->runOnce() === 0 && $looks < 70; $looks++);
        $this->assertSame(60, $looks);
        $this->assertSame([1], $this->work());
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testRelaysAndProducersDoNotWaitForEachOther(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $outbox->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n], range(1, 10)));
        $other = self::database($server)->pdo($this->database);
        $driver = self::database($server)->driver();
        match ($driver) {
            'pgsql' => $other->exec("set lock_timeout = '2s'"),
            'mysql' => $other->exec('set innodb_lock_wait_timeout = 2'),
            'sqlite' => $other->setAttribute(PDO::ATTR_TIMEOUT, 2),
        };
        $second = $this->relay(batch: 5, pdo: $other);
        $inside = null;
        // In the middle of the batch of the first: it makes its queue while its rows are locked.
        $first = new Relay($this->pdo, function (string $name) use (&$inside, $second, $other): DelayQueue {
            $inside ??= [
                $second->runOnce(),
                (new DelayQueue\Database\Outbox($other, fn (string $name): DelayQueue => $this->queue($name)))->push('orders', new NewJob('meanwhile', id: 'x')),
            ];

            return $this->queue($name);
        }, 5, 0.0);
        $this->assertSame(5, $first->runOnce());
        $this->assertSame([5, 'x'], $inside);
        // SQLite locks no rows: both had the same five, which are five jobs.
        $this->assertSame($driver === 'sqlite' ? 6 : 1, $this->rows());
        while ($first->runOnce() > 0);
        $this->assertEqualsCanonicalizing([...range(1, 10), 'meanwhile'], $this->work());
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testRowsOfAnOpenTransactionDoNotHoldUpOthers(string $server): void
    {
        foreach ([1, 2, 4, 20] as $committed) {
            $this->begin($server);
            $this->outbox()->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n], range(1, $committed)));
            if ($server !== 'sqlite') {
                $open = self::database($server)->pdo($this->database);
                $open->beginTransaction();
                (new DelayQueue\Database\Outbox($open, fn (string $name): DelayQueue => $this->queue($name)))->push('orders', new NewJob('open'));
            }
            $began = hrtime(true);
            $this->assertSame($committed, $this->relay()->runOnce());
            $this->assertLessThan(10.0, (hrtime(true) - $began) / 1e9, 'a lock is waited for much longer');
            unset($open);
            $this->assertCount($committed, $this->work());
        }
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testItRunsUntilItIsToldToStop(string $server): void
    {
        $this->begin($server);
        $this->outbox()->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n], range(1, 7)));
        $asked = 0;
        $this->relay(batch: 3)->run(static function () use (&$asked): bool {
            return ++$asked > 3;
        });
        $this->assertSame([4, 0, 7], [$asked, $this->rows(), count($this->work())]);
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testRowsAtTheHeadHoldUpNoOthers(string $server): void
    {
        $this->begin($server);
        // Keys are given to producers and relays one after the other.
        $keys = ['keys' => ['k1' => str_repeat('k', 32)]];
        $this->outbox()->pushMany('orders', array_map(static fn (int $n): array => ['payload' => "plain $n"], range(1, 4)));
        $this->outbox($keys)->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n], range(1, 10)));
        $this->assertSame(10, $this->relay($keys)->drain());
        $this->assertSame([4, 10], [$this->rows(), $this->queue()->count()]);
        $this->assertCount(1, $this->reports, 'one line for all that fail alike');
        $this->assertStringContainsString(' and 3 more of the queue are tried again in 60.0 s: its producer does not seal', $this->reports[0]);
        $this->assertSame(4, $this->relay()->drain());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testALargeNumberOfRowsThatCannotBeReadHoldsUpNoOthers(string $server): void
    {
        $this->begin($server);
        $this->outbox()->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n], range(1, 1200)));
        $this->pdo->exec('update ' . Schema::OUTBOX . " set options = 'no JSON'");
        $this->outbox()->push('orders', new NewJob('good'));
        $this->assertSame(1, $this->relay()->drain());
        $this->assertSame(['good'], $this->work());
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testABatchIsAsLargeAsCanBeSentInTime(string $server): void
    {
        $this->begin($server);
        $options = ['format' => 'raw', 'maxPayload' => 4 << 20];
        $this->outbox($options)->pushMany('orders', array_map(static fn (): array => ['payload' => str_repeat('x', 3 << 19)], range(1, 4)));
        $relay = $this->relay();
        $this->assertSame([1, 3, 0], [$relay->runOnce(), $relay->drain(), $this->rows()]);
    }

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testItNoticesThatTheTablesWereMadeAgain(string $server): void
    {
        $this->begin($server);
        $relay = $this->relay();
        $relay->runOnce();
        foreach ([Schema::OUTBOX, Schema::SOURCE] as $table) {
            $this->pdo->exec("drop table $table");
        }
        Schema::install($this->pdo);
        $outbox = $this->outbox();
        $outbox->push('orders', new NewJob(1));
        $outbox->flush();
        $this->assertSame([1], $this->work());
        $relay->runOnce();
        $this->assertSame([], $this->work(), 'the receipt begins with the new word');
    }

    public function testLimitsAreChecked(): void
    {
        $this->begin('sqlite');
        foreach ([[0, 1.0, '#3 ($batch) must be between 1 and 1000'], [1001, 1.0, '#3 ($batch) must be between 1 and 1000'], [1, -1.0, '#4 ($after) must be greater than or equal to 0']] as [$batch, $after, $words]) {
            try {
                new Relay($this->pdo, null, $batch, $after);
                $this->fail($words);
            } catch (\ValueError $error) {
                $this->assertSame(Relay::class . "::__construct(): Argument $words", $error->getMessage());
            }
        }
        $this->assertSame(Schema::statements('mysql')[0], Schema::statements('mariadb')[0]);
        $this->expectExceptionMessage('Argument #1 ($driver) must be "pgsql", "mysql", "mariadb" or "sqlite"');
        Schema::statements('oracle');
    }

    private function redis(string $command): string
    {
        $socket = stream_socket_client(preg_replace('~^redis\+(unix://[^?]*).*$~', '$1', RedisServer::shared()->dsn()));
        fwrite($socket, "DEL " . explode(' ', $command)[1] . "\r\n$command\r\n");

        return fgets($socket) . fgets($socket);
    }
}
