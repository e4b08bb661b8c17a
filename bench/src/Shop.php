<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;
use DelayQueue\Database\Schema;
use DelayQueue\Tests\Database\Support\DatabaseServer;
use PDO;

/** A shop with a database and a Redis of its own, and what each step of it costs. */
final class Shop
{
    public readonly PDO $pdo;

    public readonly Outbox $outbox;

    public readonly Outbox $journaling;

    public readonly DelayQueue $queue;

    private readonly string $database;

    private int $orders = 0;

    public function __construct(public readonly DatabaseServer $server, public readonly RedisServer $redis)
    {
        $this->database = $server->fresh();
        $this->pdo = $this->connect();
        Schema::install($this->pdo, true);
        $this->pdo->exec('CREATE TABLE orders (n bigint PRIMARY KEY, what varchar(40))');
        $this->queue = $this->queue('orders');
        $this->outbox = new Outbox($this->pdo, $this->queue(...));
        $this->journaling = new Outbox($this->pdo, $this->queue(...), true);
    }

    public function connect(): PDO
    {
        return $this->server->pdo($this->database);
    }

    public function queue(string $name): DelayQueue
    {
        return new DelayQueue($name, "redis://127.0.0.1:{$this->redis->endpoint()->port}");
    }

    public function relay(): Relay
    {
        return new Relay($this->connect(), $this->queue(...), after: 0.0);
    }

    public function clear(): void
    {
        $this->redis->ask('FLUSHALL');
        $this->outbox->discard();
        $this->journaling->discard();
        foreach ([Schema::OUTBOX, Schema::JOBS] as $table) {
            $this->pdo->exec("DELETE FROM $table");
        }
    }

    /** A transaction of one INSERT, and what else belongs to it. */
    public function order(?callable $also = null): void
    {
        $this->pdo->beginTransaction();
        $this->pdo->prepare('INSERT INTO orders (n, what) VALUES (?, ?)')->execute([++$this->orders, 'an order']);
        $also === null || $also();
        $this->pdo->commit();
    }

    /** Rows that nobody has flushed. */
    public function fill(int $rows): void
    {
        for ($n = 0; $n < $rows; $n += 500) {
            $jobs = array_map(static fn (int $k): array => ['payload' => ['order' => $k, 'why' => 'unpaid after fifteen minutes'], 'delay' => 900], range($n, min($rows, $n + 500) - 1));
            $this->outbox->pushMany('orders', $jobs);
            $this->outbox->discard();
        }
    }

    /**
     * @param callable(): mixed $step of so many jobs
     *
     * @return array<string, float> of a job
     */
    public function measure(callable $step, int $jobs): array
    {
        return $this->compare([$step], 1, 1, $jobs)[0];
    }

    /**
     * The steps take turns by blocks, so that all of them meet the same machine and the same disk.
     *
     * @template K of array-key
     *
     * @param array<K, callable(): mixed> $steps each of so many jobs
     *
     * @return array<K, array<string, float>> of a job: the median of the wall time, and CPU, in microseconds; commands of Redis
     */
    public function compare(array $steps, int $blocks, int $times, int $jobs = 1): array
    {
        $walls = $sums = array_fill_keys(array_keys($steps), []);
        for ($block = 0; $block < $blocks; $block++) {
            foreach ($steps as $name => $step) {
                $before = $this->counters();
                for ($n = 0; $n < $times; $n++) {
                    $began = hrtime(true);
                    $step();
                    $walls[$name][] = (hrtime(true) - $began) / 1000;
                }
                foreach ($this->counters(true) as $counter => $value) {
                    $sums[$name][$counter] = ($sums[$name][$counter] ?? 0) + $value - $before[$counter];
                }
            }
        }
        $of = static fn (float $sum): float => $sum / $blocks / $times / $jobs;
        foreach ($walls as $name => $wall) {
            $walls[$name] = ['wall_us' => Numbers::median($wall) / $jobs] + array_map($of, $sums[$name]);
        }

        return $walls;
    }

    /**
     * Reading one costs a little of the others: what is read last at the beginning is read first at the end.
     *
     * @return array<string, float>
     */
    private function counters(bool $isEnd = false): array
    {
        $read = [
            'commands' => fn (): float => $this->redis->commands(),
            'db_us' => fn (): float => $this->server->cpu(),
            'redis_us' => fn (): float => Cpu::ofProcessUs($this->redis->endpoint()->pid),
            'php_us' => fn (): float => Cpu::ownUs(),
        ];

        return array_map(static fn (callable $counter): float => $counter(), $isEnd ? array_reverse($read) : $read);
    }
}
