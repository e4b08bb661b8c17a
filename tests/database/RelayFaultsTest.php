<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;
use DelayQueue\NewJob;
use DelayQueue\Testing;
use DelayQueue\Tests\Database\Support\DatabaseServer;
use DelayQueue\Tests\Database\Support\HookedPdo;
use DelayQueue\Tests\Database\Support\OutboxTestCase;
use PDO;
use PDOException;
use PHPUnit\Framework\Attributes\DataProvider;
use RuntimeException;
use Throwable;

/** Connections that break, databases that may only be read, relays that are set up in another way than the producers: nothing is lost, and no job is second. */
final class RelayFaultsTest extends OutboxTestCase
{
    private const KEY = ['one' => 'base64:AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8='];

    /** @dataProvider dialects */
    #[DataProvider('dialects')]
    public function testAConnectionThatBreaksInABatchGivesItsRowsBack(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $outbox->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n], range(1, 20)));
        $outbox->discard();
        $opened = 0;
        $relay = $this->relay(pdo: function () use ($server, &$opened): PDO {
            $pdo = $this->hooked($server);
            $break = fn (string $sql) => str_contains($sql, 'delete ') && $this->break($server, $pdo);
            $opened++ === 0 && $pdo->before = $break;

            return $pdo;
        });
        try {
            $relay->runOnce();
            $this->fail('the caller hears of it');
        } catch (PDOException) {
            $this->assertSame([20, 20], [$this->rows(), $this->queue()->count()], 'Redis has them already');
        }
        $this->assertSame(20, $relay->runOnce(), 'on a connection of its own accord');
        $this->assertSame(2, $opened);
        $this->assertSame([range(1, 20), 0], [$this->work(), $this->rows()]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testARunningRelayOutlivesItsConnection(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $outbox->push('orders', new NewJob(1));
        $pdo = null;
        $relay = $this->relay(pdo: function () use ($server, &$pdo): PDO {
            return $pdo = $this->hooked($server);
        });
        $looks = 0;
        $relay->run(function () use ($server, $outbox, &$pdo, &$looks): bool {
            if (++$looks === 2) {
                $outbox->push('orders', new NewJob(2));
                $pdo->before = fn (string $sql) => str_contains($sql, 'delete ') && $this->break($server, $pdo);
            }

            return $looks === 2 ? false : $looks > 20 || $this->rows() === 0 && $looks > 2;
        });
        $this->assertLessThan(20, $looks);
        $this->assertSame([[1, 2], 0], [$this->work(), $this->rows()]);
        $this->assertCount(1, $this->reports);
        $this->assertStringStartsWith('the database has failed, and is asked again in 0.1 s: ', $this->reports[0]);
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAFlushThatLosesItsConnectionLeavesItsRowsToTheRelay(string $server): void
    {
        $this->begin($server);
        $pdo = $this->hooked($server);
        $outbox = new Outbox($pdo, fn (string $name): DelayQueue => $this->queue($name));
        $outbox->push('orders', new NewJob(1));
        $pdo->before = fn (string $sql) => $this->break($server, $pdo);
        $this->assertSame(0, $outbox->flush(), 'the order is stored: nothing is thrown');
        $this->assertSame([1, 0], [$this->rows(), $this->queue()->count()]);
        $this->assertSame(1, $this->relay()->runOnce());
        $this->assertSame([1], $this->work());
    }

    /** A relay of PostgreSQL does not wait until its deletions are on the disk. */
    public function testADeletionThatACrashUndoesFindsItsReceipt(): void
    {
        if (!in_array('postgresql', DatabaseServer::names(), true)) {
            $this->assertTrue(true, 'others write at each commit');

            return;
        }
        $this->begin('postgresql');
        $server = self::database('postgresql');
        $admin = $server->admin($this->database);
        $admin->exec("alter system set wal_writer_delay = '10s'");
        $admin->query('select pg_reload_conf()');
        ini_set('delayqueue.testing', '1');
        try {
            $outbox = $this->outbox();
            $outbox->push('orders', new NewJob(1));
            $this->assertSame(1, $outbox->flush());
            $this->assertSame([1], $this->work());
            Testing::travel('11m');
            $relay = $this->relay();
            $this->assertSame(1, $relay->runOnce());
            $forgotten = $relay->sweep();
            $this->assertSame(1, $forgotten);
            $server->kill();
            $server->restart();
            $this->pdo = $server->pdo($this->database);
            $this->relay()->runOnce();
            $this->assertSame([[], 0], [$this->work(), $this->rows()], 'no second job');
        } finally {
            Testing::travelBack();
            ini_restore('delayqueue.testing');
            $server->admin($this->database)->exec('alter system reset wal_writer_delay');
        }
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testADatabaseThatMayOnlyBeReadKeepsItsRows(string $server): void
    {
        $this->begin($server);
        $this->outbox()->push('orders', new NewJob(1));
        $reader = self::database($server)->pdo($this->database);
        $reader->exec(match (self::database($server)->driver()) {
            'pgsql' => 'set default_transaction_read_only = on',
            'mysql' => 'set session transaction read only',
            'sqlite' => 'pragma query_only = 1',
        });
        $reads = new Outbox($reader, fn (string $name): DelayQueue => $this->queue($name));
        foreach ([
            'push' => static fn () => $reads->push('orders', new NewJob(2)),
            'cancel' => static fn () => $reads->cancel('orders', 'x'),
            'relay' => fn () => $this->relay(pdo: $reader)->runOnce(),
        ] as $what => $call) {
            try {
                $call();
                $this->fail("$what: the driver's own words are passed on");
            } catch (PDOException $error) {
                $this->assertMatchesRegularExpression('/read.?only/i', $error->getMessage(), $what);
            }
        }
        $this->assertSame(['rows' => 1], array_intersect_key($reads->waiting(), ['rows' => 1]), 'looking is allowed');
        $this->assertSame(1, $this->relay()->runOnce());
        $this->assertSame([1], $this->work());
    }

    /**
     * @dataProvider databases
     */
    #[DataProvider('databases')]
    public function testRowsWaitForARelayWithTheKeysAndPartitionsOfTheirProducers(string $server): void
    {
        $this->begin($server);
        $wrong = [
            'this relay has no keys' => [['keys' => self::KEY], []],
            'this relay has keys' => [[], ['keys' => self::KEY]],
            'knows of 4 partitions, and this relay of 2' => [['partitions' => 4], ['partitions' => 2]],
        ];
        $n = 0;
        foreach ($wrong as $words => [$producer, $relay]) {
            $name = 'queue-' . ++$n;
            $outbox = $this->outbox($producer);
            $outbox->pushMany($name, array_map(static fn (int $k): array => ['payload' => $k], range(1, 5)));
            $outbox->push("beside-$n", new NewJob(0));
            $outbox->discard();
            $this->reports = [];
            $there = fn (string $of): int => $this->queue($of, $producer)->count();
            $make = fn (string $of): DelayQueue => $this->queue($of, $of === $name ? $relay : $producer);
            $misfit = new Relay($this->pdo, $make, after: 0.0, report: function (string $what, Throwable $error): void {
                $this->reports[] = "$what: {$error->getMessage()}";
            });
            $this->assertSame([1, 0, 1], [$misfit->runOnce(), $there($name), $there("beside-$n")], $words);
            $this->assertCount(1, $this->reports);
            $this->assertStringContainsString("of queue $name, row ", $this->reports[0]);
            $this->assertStringContainsString($words, $this->reports[0]);
            $this->assertSame(5, $this->relay($producer)->runOnce());
            $taken = [];
            while (($job = $this->queue($name, $producer)->reserve()) !== null) {
                $taken[] = $job->payload;
                $job->ack();
            }
            $this->assertEqualsCanonicalizing(range(1, 5), $taken, $words);
        }
    }

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testAQueueThatTheRelayCannotMakeWaitsAndOthersGoOn(string $server): void
    {
        $this->begin($server);
        $outbox = $this->outbox();
        $outbox->pushMany('unknown', [['payload' => 1], ['payload' => 2]]);
        $knows = false;
        $make = function (string $name) use (&$knows): DelayQueue {
            return $name === 'orders' || $knows ? $this->queue($name) : throw new RuntimeException("nobody has configured the queue $name");
        };
        $relay = new Relay($this->pdo, $make, after: 0.0, report: function (string $what, Throwable $error): void {
            $this->reports[] = "$what: {$error->getMessage()}";
        });
        for ($round = 0; count($this->reports) < 3; $round++) {
            $outbox->push('orders', new NewJob($round));
            $outbox->discard();
            $this->assertSame([1, 0], [$relay->runOnce(), $relay->sweep()]);
            usleep(20_000);
        }
        $this->assertSame('the rows of queue unknown are tried again in 0.4 s: nobody has configured the queue unknown', $this->reports[2]);
        $this->assertSame(range(0, $round - 1), $this->work());
        $knows = true;
        while ($this->rows() > 0) {
            $relay->runOnce();
            usleep(20_000);
        }
        $this->assertSame([1, 2], $this->work('unknown'));
    }

    private function hooked(string $server): HookedPdo
    {
        $database = self::database($server);
        $pdo = new HookedPdo($database->dsn($this->database), $database->user(), $database->password(), [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION]);
        $database->driver() === 'sqlite' && $pdo->setAttribute(PDO::ATTR_TIMEOUT, 0);

        return $pdo;
    }

    /** The server ends the connection, as an administrator or a failover does. SQLite has none: its file fails. */
    private function break(string $server, HookedPdo $pdo): void
    {
        $pdo->before = null;
        $admin = self::database($server)->admin($this->database);
        match (self::database($server)->driver()) {
            'pgsql' => $admin->query("select pg_terminate_backend({$pdo->query('select pg_backend_pid()')->fetchColumn()})"),
            'mysql' => $admin->exec("kill {$pdo->query('select connection_id()')->fetchColumn()}"),
            'sqlite' => throw new PDOException('SQLSTATE[HY000]: General error: 10 disk I/O error'),
        };
    }
}
