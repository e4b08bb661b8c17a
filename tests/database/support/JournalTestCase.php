<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Database\Journal;
use DelayQueue\Database\JobRecord;
use DelayQueue\Database\Schema;
use DelayQueue\Testing\RedisServer;
use PDO;

/** A journal in a database of its own. */
abstract class JournalTestCase extends DatabaseTestCase
{
    protected string $name;

    protected string $database;

    protected ?PDO $lock = null;

    /** @var list<string> what the journal reported */
    protected array $reports = [];

    protected function setUp(): void
    {
        RedisServer::shared()->flush();
        [$this->reports, $this->lock] = [[], null];
    }

    protected function prepare(string $name, int $batch = 200, float $atMost = 1.0): Journal
    {
        [$this->name, $this->database] = [$name, self::database($name)->fresh()];
        Schema::install($this->pdo(), jobs: true);

        return new Journal($this->pdo(...), self::queue(...), $batch, $atMost, payloads: true, report: $this->report(...));
    }

    protected function report(string $what, \Throwable $error): void
    {
        $this->reports[] = "$what: {$error->getMessage()}";
    }

    protected function pdo(): PDO
    {
        $pdo = self::database($this->name)->pdo($this->database);
        $patience = ['pgsql' => "set lock_timeout = '1s'", 'mysql' => 'set innodb_lock_wait_timeout = 1', 'sqlite' => 'pragma busy_timeout = 300'];
        $pdo->exec($patience[self::database($this->name)->driver()]);

        return $pdo;
    }

    protected function rows(string $where = '1 = 1'): int
    {
        return (int) $this->pdo()->query("select count(*) from delayqueue_jobs where $where")->fetchColumn();
    }

    protected static function queue(string $name = 'orders', int $maxAttempts = 10, float $ttr = 60): DelayQueue
    {
        $dsn = $name === 'elsewhere' ? 'redis://127.0.0.1:1' : RedisServer::shared()->dsn();

        return new DelayQueue($name, $dsn, ['maxAttempts' => $maxAttempts, 'backoff' => Backoff::fixed(0), 'ttr' => $ttr]);
    }

    /** @return list<array{int, string, ?string}> */
    protected static function runs(JobRecord $record): array
    {
        return array_map(static fn (array $run): array => [$run['attempt'], $run['outcome'], $run['error']], $record->runs);
    }
}
