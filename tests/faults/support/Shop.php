<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue\Database\Journal;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;
use DelayQueue\Exception;
use DelayQueue\Tests\Database\Support\DatabaseServer;
use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PDO;
use PDOException;
use RuntimeException;

/** Producers, relays and workers of a shop, each a process of its own, which are killed at random until all orders are taken. */
final class Shop
{
    private const KINDS = ['producers' => 4, 'relays' => 2, 'workers' => 2];

    /** Seconds for which Redis stands still. */
    private const FREEZE = 2.5;

    /** Seconds for which relays leave rows to their requests: a cancellation comes behind a push that waits in a Redis that stands still. */
    private const AFTER = 3.0;

    /**
     * Receipts that are so old count as if they were ten minutes old: rows of older ones are still there, and no packet
     * is that late but for the stalls of the machine, of which those of the last half a minute are added.
     */
    private const OLD_US = 1_500_000;

    /** KEYS[1] receipts; ARGV[1] the age, in µs. */
    private const AGE = <<<'LUA'
        local time = redis.call('TIME')
        local old = redis.call('ZRANGEBYSCORE', KEYS[1], 0, time[1] * 1000000 + time[2] - ARGV[1])
        for _, receipt in ipairs(old) do redis.call('ZADD', KEYS[1], 1, receipt) end
        return #old
        LUA;

    public readonly ShopSettings $settings;

    private readonly Folder $folder;

    private PDO $pdo;

    /** Until then a process may end because it finds no database. */
    private float $forgivesUntil = 0.0;

    /** @var array<string, array{string, list<string>}> kind and command of each process, by its name */
    private array $commands = [];

    /** @var array<string, Process> */
    private array $processes = [];

    /** @var array<string, int> */
    private array $kills = ['producers' => 0, 'relays' => 0, 'workers' => 0];

    /** @var array<string, int> jobs that Redis has lost, and that were pushed again */
    private array $losses = ['in Redis' => 0, 'rebuilt' => 0];

    /**
     * @param int $most orders of one transaction
     * @param bool $remembers it has a journal, and workers an inbox
     * @param bool $regrets it also pushes jobs that it cancels
     */
    public function __construct(private readonly DatabaseServer $server, private readonly Single $redis, private readonly int $orders, int $most, bool $remembers = false, bool $regrets = true)
    {
        $this->folder = new Folder();
        $this->settings = ShopSettings::of($server, $redis->dsn(), $this->folder->path, self::AFTER, $remembers, $regrets);
        $this->pdo = $this->settings->pdo();
        Schema::install($this->pdo, $remembers);
        $this->pdo->exec('CREATE TABLE orders (slot int NOT NULL, n int NOT NULL, token varchar(12) NOT NULL, earliest bigint NOT NULL, PRIMARY KEY (slot, n))');
        $this->pdo->exec('CREATE TABLE regrets (slot int NOT NULL, job varchar(40) NOT NULL)');
        $this->pdo->exec('CREATE TABLE effects (slot int NOT NULL, n int NOT NULL)');
        $settings = json_encode($this->settings);
        $quota = (string) intdiv($orders, self::KINDS['producers']);
        foreach (self::KINDS as $kind => $count) {
            for ($n = 1; $n <= $count; $n++) {
                $this->commands["$kind $n"] = [$kind, match ($kind) {
                    'producers' => ['shop-produce.php', $settings, (string) $n, $quota, (string) $most, (string) ($n % 2)],
                    'relays' => ['shop-relay.php', $settings],
                    'workers' => ['shop-work.php', $settings],
                }];
            }
        }
    }

    /** @param list<array{float, 'freeze'|'save'|'lose'|'crash'}> $faults what happens to Redis or, 'crash', to the database, after which part of the orders */
    public function run(array $faults, float $patience): ShopAccount
    {
        $started = microtime(true);
        foreach (array_keys($this->commands) as $name) {
            $this->start($name);
        }
        [$nextKill, $nextLook, $thaw, $taken] = [$started + 0.3, $started, null, 0];
        for (;; usleep(10_000)) {
            $now = microtime(true);
            $this->replaceThoseThatEnded();
            $isOpen = $taken < $this->orders;
            if ($isOpen && $now > $nextKill) {
                $this->killOne();
                $nextKill = $now + random_int(30, 150) / 1000;
            }
            if ($thaw !== null && $now > $thaw) {
                $this->redis->node()->thaw();
                $thaw = null;
            }
            if ($now < $nextLook) {
                continue;
            }
            $nextLook = $now + 0.3;
            $taken = (int) $this->pdo->query('SELECT count(*) FROM orders')->fetchColumn();
            if ($faults !== [] && $taken >= $faults[0][0] * $this->orders) {
                [, $fault] = array_shift($faults);
                match ($fault) {
                    'freeze' => $this->redis->node()->freeze(),
                    'save' => $this->redis->node()->ask('SAVE'),
                    'lose' => $this->loseJobs(),
                    'crash' => $this->crashTheDatabase(),
                };
                $thaw = $fault === 'freeze' ? $now + self::FREEZE : null;
            }
            if ($thaw !== null) {
                continue;
            }
            $age = self::OLD_US + (int) (1e6 * Machine::stallsSince($now - 30));
            $receipts = 'dq:{' . ShopSettings::QUEUE . '}:receipts';
            $this->redis->node()->ask('EVAL', self::AGE, '1', $receipts, (string) $age);
            if (!$isOpen && array_sum($this->left()) === 0 || Machine::lasted($started) > $patience) {
                return $this->account(microtime(true) - $started);
            }
        }
    }

    public function remove(): void
    {
        foreach ($this->processes as $process) {
            $process->kill();
        }
        $this->folder->remove();
    }

    /** @return array<string, int> */
    private function left(): array
    {
        return [
            'rows' => (new Outbox($this->pdo))->waiting()['rows'],
            'jobs' => $this->settings->queue()->count(),
            'receipts' => (int) $this->redis->node()->ask('ZCARD', 'dq:{' . ShopSettings::QUEUE . '}:receipts'),
            'unfinished in the journal' => $this->settings->journal ? (int) $this->pdo->query('SELECT count(*) FROM delayqueue_jobs WHERE ended IS NULL')->fetchColumn() : 0,
        ];
    }

    /** SQLite has no server. */
    private function crashTheDatabase(): void
    {
        if ($this->server->pid() === null) {
            return;
        }
        $this->server->kill();
        $this->server->restart();
        $this->pdo = $this->settings->pdo();
        $this->forgivesUntil = microtime(true) + 5;
        $this->kills['databases'] = ($this->kills['databases'] ?? 0) + 1;
    }

    /** Redis dies, and comes back with what it has saved: nothing, or an older state. An operator rebuilds the queue. */
    private function loseJobs(): void
    {
        $node = $this->redis->node();
        $this->losses['in Redis'] += $this->settings->queue()->count();
        $node->kill();
        $node->start();
        $journal = new Journal($this->settings->pdo(...), $this->settings->queue(...));
        $this->losses['rebuilt'] += Wait::until(static function () use ($journal): array {
            try {
                return [$journal->rebuild(ShopSettings::QUEUE)];
            } catch (PDOException | Exception) {
                return [];
            }
        }, 20, 'the queue is rebuilt')[0];
    }

    private function account(float $seconds): ShopAccount
    {
        $left = $this->left();
        $findings = array_filter($this->settings->queue()->doctor(), static fn (array $finding): bool => $finding['level'] === 'error');
        foreach ($this->processes as $process) {
            $process->kill();
        }

        return new ShopAccount($this->pdo, $this->settings, $this->kills, $this->losses, $left, array_column($findings, 'message'), $seconds);
    }

    private function start(string $name): void
    {
        $arguments = $this->commands[$name][1];
        $program = array_shift($arguments);
        $this->processes[$name] = new Process([PHP_BINARY, dirname(__DIR__) . "/programs/$program", ...$arguments]);
    }

    private function killOne(): void
    {
        $name = array_rand($this->processes);
        $this->processes[$name]->kill();
        $this->kills[$this->commands[$name][0]]++;
        $this->start($name);
    }

    private function replaceThoseThatEnded(): void
    {
        foreach ($this->processes as $name => $process) {
            if ($process->isRunning()) {
                continue;
            }
            if ($process->exitCode() !== 0 && microtime(true) < $this->forgivesUntil) {
                $process->kill();
                $this->start($name);
                continue;
            }
            if ($process->exitCode() !== 0 || $this->commands[$name][0] !== 'producers') {
                throw new RuntimeException("$name ended by itself: {$process->errors()}{$process->rest()}");
            }
            unset($this->processes[$name]);
        }
    }
}
