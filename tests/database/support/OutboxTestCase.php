<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Database\Support;

use Closure;
use DelayQueue;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;
use DelayQueue\Database\Schema;
use DelayQueue\Testing\RedisServer;
use PDO;
use Throwable;

/** A shop's database with the tables, and a Redis. */
abstract class OutboxTestCase extends DatabaseTestCase
{
    protected PDO $pdo;

    /** The database of the test, on its server. */
    protected string $database;

    /** @var list<string> what relays have reported */
    protected array $reports = [];

    protected function setUp(): void
    {
        RedisServer::shared()->flush();
    }

    /** Makes the tables in a new database, and a connection to it. */
    protected function begin(string $server): void
    {
        $this->database = self::database($server)->fresh();
        $this->pdo = self::database($server)->pdo($this->database);
        Schema::install($this->pdo, true);
        $this->pdo->exec('create table orders (n integer not null primary key)');
    }

    /** @param array<string, mixed> $options */
    protected function queue(string $name = 'orders', array $options = []): DelayQueue
    {
        return new DelayQueue($name, RedisServer::shared()->dsn(), $options);
    }

    /** @param array<string, mixed> $options of the queues */
    protected function outbox(array $options = [], bool $journal = false): Outbox
    {
        return new Outbox($this->pdo, fn (string $name): DelayQueue => $this->queue($name, $options), $journal);
    }

    /** @param array<string, mixed> $options of the queues */
    protected function relay(array $options = [], float $after = 0.0, int $batch = 500, PDO|Closure|null $pdo = null): Relay
    {
        $report = function (string $what, Throwable $error): void {
            $this->reports[] = "$what: {$error->getMessage()}";
        };

        return new Relay($pdo ?? $this->pdo, fn (string $name): DelayQueue => $this->queue($name, $options), $batch, $after, $report);
    }

    protected function rows(string $table = Schema::OUTBOX): int
    {
        return (int) $this->pdo->query("select count(*) from $table")->fetchColumn();
    }

    /** @return list<mixed> the payloads of all jobs that are due, in order; they are done then */
    protected function work(string $queue = 'orders'): array
    {
        $payloads = [];
        while (($job = $this->queue($queue)->reserve()) !== null) {
            $payloads[] = $job->payload;
            $job->ack();
        }

        return $payloads;
    }
}
