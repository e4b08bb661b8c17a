<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database;

use DelayQueue;
use DelayQueue\Database\Inbox;
use DelayQueue\Database\Journal;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;
use DelayQueue\Database\Schema;
use DelayQueue\Job;
use DelayQueue\NewJob;
use DelayQueue\Testing;
use DelayQueue\Testing\RedisServer;
use DelayQueue\Tests\Database\Support\DatabaseServer;
use DelayQueue\Tests\Database\Support\OutboxTestCase;
use PDO;
use PHPUnit\Framework\Attributes\DataProvider;

/** A session of the database, or a PDO, may be set up in ways that change what a statement does. */
final class SessionSettingsTest extends OutboxTestCase
{
    private const SERIALIZABLE = [
        'pgsql' => 'set default_transaction_isolation = serializable',
        'mysql' => 'set session transaction isolation level serializable',
    ];

    /** Statements that a connection may begin with, by the names of the drivers. */
    private const SESSIONS = [
        'pgsql' => [
            self::SERIALIZABLE['pgsql'],
            "set time zone 'Pacific/Apia'; set bytea_output = escape; set intervalstyle = iso_8601",
            'set standard_conforming_strings = off',
        ],
        'mysql' => [
            'set sql_safe_updates = 1, sql_select_limit = 1',
            self::SERIALIZABLE['mysql'],
            "set time_zone = '+13:00', sql_mode = 'ANSI,NO_BACKSLASH_ESCAPES,HIGH_NOT_PRECEDENCE'",
            "set sql_mode = ''",
            'set autocommit = 0',
        ],
        'sqlite' => [
            'pragma foreign_keys = on; pragma recursive_triggers = on; pragma case_sensitive_like = on',
            'pragma reverse_unordered_selects = on',
        ],
    ];

    /** Attributes of PDO that change what it gives, or how it fails. */
    private const ATTRIBUTES = [
        [
            PDO::ATTR_CASE => PDO::CASE_UPPER,
            PDO::ATTR_ORACLE_NULLS => PDO::NULL_EMPTY_STRING,
            PDO::ATTR_STRINGIFY_FETCHES => true,
        ],
        [
            PDO::ATTR_ERRMODE => PDO::ERRMODE_SILENT,
            PDO::ATTR_ORACLE_NULLS => PDO::NULL_TO_STRING,
            PDO::ATTR_DEFAULT_FETCH_MODE => PDO::FETCH_OBJ,
        ],
    ];

    /** @dataProvider databases */
    #[DataProvider('databases')]
    public function testOutboxRelayInboxAndJournalWorkWhateverTheSessionIsSetTo(string $server): void
    {
        $this->begin($server);
        $driver = self::database($server)->driver();
        foreach (self::SESSIONS[$driver] as $statements) {
            $this->assertWholeCycle($server, static function (PDO $pdo) use ($statements): void {
                array_map($pdo->exec(...), explode('; ', $statements));
            }, $statements);
        }
        foreach (self::ATTRIBUTES as $index => $attributes) {
            $attributes += $index > 0 ? [] : match ($driver) {
                'mysql' => [PDO::ATTR_EMULATE_PREPARES => false, PDO::MYSQL_ATTR_USE_BUFFERED_QUERY => false],
                'pgsql' => [PDO::ATTR_EMULATE_PREPARES => true],
                'sqlite' => [],
            };
            $this->assertWholeCycle($server, static function (PDO $pdo) use ($attributes): void {
                foreach ($attributes as $attribute => $value) {
                    $pdo->setAttribute($attribute, $value);
                }
            }, "attributes $index");
        }
    }

    /** @dataProvider servers */
    #[DataProvider('servers')]
    public function testRelaysBesideEachOtherDoNotFailWhereTransactionsAreSerializable(string $server): void
    {
        $this->begin($server);
        $open = function () use ($server): PDO {
            $pdo = self::database($server)->pdo($this->database);
            $pdo->exec(self::SERIALIZABLE[self::database($server)->driver()]);

            return $pdo;
        };
        $outbox = $this->outbox();
        $outbox->pushMany('orders', array_map(static fn (int $n): array => ['payload' => $n], range(1, 4)));
        $other = $this->relay(batch: 2, pdo: $open());
        $isFirst = true;
        $relay = new Relay($open(), function (string $name) use ($other, &$isFirst): DelayQueue {
            if ($isFirst) {
                $isFirst = false;
                $this->assertSame(2, $other->runOnce());
            }

            return $this->queue($name);
        }, batch: 2, after: 0.0);
        $this->assertSame(2, $relay->runOnce());
        $this->assertSame([0, 4], [$this->rows(), $this->queue()->count()]);
    }

    public function testWhatIsPushedWithoutAutocommitIsPartOfTheTransactionThatTheApplicationCommits(): void
    {
        if (!in_array('mariadb', DatabaseServer::names(), true)) {
            $this->assertTrue(true, 'the others have no such setting');

            return;
        }
        $this->begin('mariadb');
        $this->pdo->setAttribute(PDO::ATTR_AUTOCOMMIT, false);
        $outbox = $this->outbox();
        foreach (['rollBack' => 0, 'commit' => 1] as $end => $count) {
            $outbox->push('orders', new NewJob(1));
            $this->pdo->exec('insert into orders values (1)');
            $this->pdo->$end();
            $outbox->flush();
            $this->assertSame([$count, $count], [$this->queue()->count(), $this->rows()], $end);
            $this->pdo->rollBack();
        }
        $outbox->pushNow('orders', new NewJob(2));
        $this->assertFalse($this->pdo->inTransaction());
        $this->assertSame(2, $this->queue()->count());
    }

    /** @param callable(PDO): void $setUp */
    private function assertWholeCycle(string $server, callable $setUp, string $which): void
    {
        RedisServer::shared()->flush();
        foreach ([Schema::OUTBOX, Schema::SOURCE, Schema::JOBS] as $table) {
            $this->pdo->exec("drop table $table");
        }
        $opened = [];
        $open = function () use ($server, $setUp, &$opened): PDO {
            $setUp($opened[] = $pdo = self::database($server)->pdo($this->database));

            return $pdo;
        };
        $queues = fn (string $name): DelayQueue => $this->queue($name, ['format' => 'raw']);
        $shop = $open();
        Schema::install($shop, jobs: true);
        $outbox = new Outbox($shop, $queues, journal: true);
        $order = static fn (int $n): array => ['payload' => "it's \"$n\" \\", 'id' => "$n"];
        $outbox->transaction(static fn () => $outbox->pushMany('orders', array_map($order, range(1, 5))));
        $this->assertSame(5, $this->queue()->count(), "$which: the flush has pushed all");
        RedisServer::shared()->flush();
        $this->pdo->exec('delete from ' . Schema::OUTBOX);

        $mail = static fn (int $n): array => ['payload' => $n === 1 ? '' : "$n", 'id' => "$n"];
        $outbox->transaction(static fn () => $outbox->pushMany('mails', array_map($mail, range(1, 5))));
        $outbox->discard();
        $this->assertSame(2, $outbox->cancel('mails', '4', '5'), "$which: rows of cancelled jobs are deleted");
        $outbox->discard();
        $this->assertSame(5, $outbox->waiting()['rows'], "$which: three jobs, two cancellations");
        $relay = $this->relay(['format' => 'raw'], batch: 2, pdo: $open(...));
        $relay->drain();
        $this->assertSame([[], 0], [$this->reports, $this->rows()], "$which: the relay has brought all rows");

        $report = function (string $what, \Throwable $error): void {
            $this->reports[] = "$what: {$error->getMessage()}";
        };
        $journal = new Journal($open, $queues, payloads: true, report: $report);
        $inbox = new Inbox($open());
        $worked = [];
        $mails = $journal->watch($this->queue('mails', ['format' => 'raw']));
        $mails->consume(static function (Job $job) use ($inbox, &$worked): void {
            $inbox->once($job, static function () use ($job, &$worked): void {
                $worked[] = $job->payload;
            });
        }, stopWhenEmpty: true);
        sort($worked);
        $this->assertSame(['', '2', '3'], $worked, $which);
        $this->assertSame([], $this->reports, $which);
        $this->assertSame('cancelled done', $this->states('mails'), "$which: others see what was written");
        $this->assertSame(5, $journal->rebuild('orders'), "$which: all of a lost queue come back");
        $payloads = [$journal->find('1', 'orders')[0]->payload, $journal->find('1', 'mails')[0]->payload];
        $this->assertSame(["it's \"1\" \\", '', 'done'], [...$payloads, $journal->state('2')], $which);
        $this->assertCount(10, $journal->search(), $which);
        $this->sweepLater($relay, $which);
        $this->pdo->exec('update ' . Schema::JOBS . ' set ended = 1 where ended is not null');
        $this->assertSame(5, $journal->prune('1s', queue: 'mails'), $which);
        $this->assertSame(5, $this->rows(Schema::JOBS), $which);
        foreach ($opened as $pdo) {
            $this->assertFalse($pdo->inTransaction(), "$which: nothing is left open");
        }
    }

    private function states(string $queue): string
    {
        $sql = 'select distinct state from ' . Schema::JOBS . " where queue = '$queue' order by state";

        return implode(' ', $this->pdo->query($sql)->fetchAll(PDO::FETCH_COLUMN));
    }

    private function sweepLater(Relay $relay, string $which): void
    {
        ini_set('delayqueue.testing', '1');
        Testing::travel('11m');
        try {
            // Two rows, whose receipts must stay: a relay that had forgotten them would push their jobs again.
            $this->assertGreaterThan(0, $relay->sweep(), $which);
        } finally {
            Testing::travelBack();
            ini_restore('delayqueue.testing');
        }
    }
}
