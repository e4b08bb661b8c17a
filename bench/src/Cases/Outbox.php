<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Cpu;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\Numbers;
use DelayQueue\Bench\RedisServer;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Shop;
use DelayQueue\Bench\Table;
use DelayQueue\Database\Internal\PdoConnection;
use DelayQueue\Database\Journal;
use DelayQueue\Database\Relay;
use DelayQueue\NewJob;
use DelayQueue\Tests\Database\Support\DatabaseServer;

/** The cost of the database side for a shop, on each database: a transaction with a job, the relay, the journal. */
final class Outbox implements Benchmark
{
    private const COLUMNS = ['wall_us' => 'wall µs', 'php_us' => 'CPU PHP', 'db_us' => 'CPU database', 'redis_us' => 'CPU Redis', 'commands' => 'Redis commands'];

    private const ROUNDS = 8;

    private const HANDLER_US = 5000;

    public function run(Session $session): Table
    {
        $note = 'Of a transaction, a row, a job, or where it says so a second. Private databases with durable commits, each beside a Redis of its own; SQLite runs in PHP. '
            . 'Wall times of transactions are medians. "PHP" is this process.';
        $table = new Table('outbox', 'An order and its job in one transaction', self::COLUMNS, $note);
        $shops = [];
        foreach (DatabaseServer::names() as $name) {
            $shops[$name] = new Shop(DatabaseServer::named($name), new RedisServer($session->directory()));
        }
        foreach ($shops as $name => $shop) {
            for ($run = 0; $run < $session->settings->runs; $run++) {
                $session->say("outbox $name, transactions, run $run");
                foreach (self::transactions($session, $shop) as $row => $values) {
                    $table->add("$name: $row", $run, $values);
                }
            }
            $session->rotate($table, [...self::relays($session, $shop, $name), ...self::workers($session, $shop, $name)]);
        }
        foreach ($shops as $name => $shop) {
            $session->say("outbox $name, growth and idle");
            foreach (self::growth($session, $shop) as $row => $values) {
                $table->add("$name: $row", 0, $values);
            }
            $table->add("$name: an idle relay, a second", 0, self::idle($session, $shop));
        }
        DatabaseServer::dropAll();

        return $table;
    }

    public function figures(Table $table): array
    {
        $figures = [];
        foreach (DatabaseServer::names() as $name) {
            $of = static fn (string $row, string $metric = 'wall_us'): array => $table->values("$name: $row", $metric);
            $each = static fn (callable $calculate, array ...$values): array => array_map($calculate, ...$values);
            array_push(
                $figures,
                Figure::atMost("$name: what an outbox row adds, of the transaction", 0.5, $each(static fn ($row, $alone) => ($row - $alone) / $alone, $of('+ outbox row'), $of('transaction'))),
                Figure::atMost("$name: flush(), of a direct push and a look by key", 1.0, $each(
                    static fn ($flush, $row, $push, $look, $alone) => ($flush - $row) / ($push + $look - 2 * $alone),
                    $of('+ outbox row, flush()'),
                    $of('+ outbox row'),
                    $of('+ direct push'),
                    $of('+ a look by key'),
                    $of('transaction'),
                )),
                Figure::atLeast("$name: rows of the relay for a second of CPU of PHP and database", 10_000, $each(static fn ($php, $db) => 1e6 / ($php + $db), $of('relay, a row', 'php_us'), $of('relay, a row', 'db_us'))),
                Figure::atMost("$name: CPU of a row after all the deleted ones, of the first", 1.25, $each(
                    static fn ($php, $db, $firstPhp, $firstDb) => ($php + $db) / ($firstPhp + $firstDb),
                    $of('relay, the last rows', 'php_us'),
                    $of('relay, the last rows', 'db_us'),
                    $of('relay, the first rows', 'php_us'),
                    $of('relay, the first rows', 'db_us'),
                )),
                Figure::atMost("$name: Redis commands that a journal adds to a job", 0.01, $each(static fn ($with, $without) => max(0, $with - $without), $of('job, journal', 'commands'), $of('job', 'commands'))),
                Figure::atMost("$name: a journal beside a handler of 5 ms", 1.05, $table->ratios("$name: job of 5 ms, journal", "$name: job of 5 ms", 'wall_us')),
            );
            // MariaDB alone, without any client, takes about as much.
            in_array($name, ['postgresql', 'sqlite'], true) && $figures[] = Figure::atMost(
                "$name: an idle relay, % of a core",
                1.0,
                $each(static fn ($php, $db) => ($php + $db) / 1e4, $of('an idle relay, a second', 'php_us'), $of('an idle relay, a second', 'db_us')),
            );
        }

        return $figures;
    }

    /** @return array<string, array<string, float>> */
    private static function transactions(Session $session, Shop $shop): array
    {
        $shop->clear();
        $push = static fn () => $shop->outbox->push('orders', new NewJob(['order' => 4711], 900));
        $database = PdoConnection::of($shop->pdo);
        $steps = [
            'transaction' => static fn () => $shop->order(),
            '+ direct push' => static fn () => [$shop->order(), $shop->queue->push(['order' => 4711], 900)],
            // flush() is to find only its own row.
            '+ outbox row' => static fn () => [$shop->order($push), $shop->outbox->discard()],
            '+ outbox row, flush()' => static fn () => [$shop->order($push), $shop->outbox->flush()],
            '+ outbox row, journal' => static fn () => [$shop->order(static fn () => $shop->journaling->push('orders', new NewJob(['order' => 4711], 900))), $shop->journaling->discard()],
            '+ a look by key' => static fn () => [$shop->order(), $database->rows('select what from orders where n in (?)', [1])],
        ];
        return $shop->compare($steps, $session->jobs(40, 20, 2), 10);
    }

    /** @return array<string, callable(): array<string, float>> */
    private static function relays(Session $session, Shop $shop, string $name): array
    {
        $count = $session->jobs(10_000, 5_000, 500);

        return ["$name: relay, a row" => static function () use ($shop, $count): array {
            $shop->clear();
            $shop->fill($count);
            $relay = $shop->relay();

            return $shop->measure(static fn () => self::drain($relay), $count);
        }];
    }

    /** @return array<string, callable(): array<string, float>> */
    private static function workers(Session $session, Shop $shop, string $name): array
    {
        $rows = [];
        foreach (['job' => [0, 16, $session->jobs(4000, 2000, 200)], 'job of 5 ms' => [self::HANDLER_US, 1, $session->jobs(400, 200, 20)]] as $row => [$us, $prefetch, $count]) {
            foreach (['' => false, ', journal' => true] as $end => $watches) {
                $rows["$name: $row$end"] = static function () use ($shop, $us, $prefetch, $count, $watches): array {
                    $shop->clear();
                    $queue = $shop->queue('orders');
                    $queue->pushMany(array_map(static fn (int $n): array => ['payload' => ['order' => $n]], range(1, $count)));
                    $watches && (new Journal($shop->connect(), $shop->queue(...)))->watch($queue);
                    $handle = static fn () => $us === 0 ? null : usleep($us);

                    return $shop->measure(static fn () => $queue->consume($handle, prefetch: $prefetch, stopWhenEmpty: true), $count);
                };
            }
        }

        return $rows;
    }

    /** @return array<string, array<string, float>> the first part of many rows, and the last */
    private static function growth(Session $session, Shop $shop): array
    {
        $shop->clear();
        $count = $session->jobs(50_000, 10_000, 500);
        $relay = $shop->relay();
        $parts = [];
        for ($round = 0; $round < self::ROUNDS; $round++) {
            $shop->redis->ask('FLUSHALL');
            $shop->fill($count);
            $parts[] = $shop->measure(static fn () => self::drain($relay), $count);
        }
        $half = static fn (array $parts): array => array_combine(array_keys(self::COLUMNS), array_map(static fn (string $metric) => Numbers::median(array_column($parts, $metric)), array_keys(self::COLUMNS)));

        return ['relay, the first rows' => $half(array_slice($parts, 0, 3)), 'relay, the last rows' => $half(array_slice($parts, -3))];
    }

    /** @return array<string, float> */
    private static function idle(Session $session, Shop $shop): array
    {
        $relay = $shop->relay();
        $relay->runOnce();
        $seconds = max(2.0, $session->seconds(15, 6));
        $end = hrtime(true) + (int) ($seconds * 1e9);
        $began = [$shop->server->cpu(), Cpu::ofProcessUs($shop->redis->endpoint()->pid), Cpu::ownUs(), hrtime(true)];
        $relay->run(static fn (): bool => hrtime(true) > $end);
        $ended = [$shop->server->cpu(), Cpu::ofProcessUs($shop->redis->endpoint()->pid), Cpu::ownUs(), hrtime(true)];
        [$database, $redis, $php, $nanoseconds] = array_map(static fn ($after, $before) => $after - $before, $ended, $began);
        $elapsed = $nanoseconds / 1e9;

        return ['wall_us' => 1e6, 'php_us' => $php / $elapsed, 'db_us' => $database / $elapsed, 'redis_us' => $redis / $elapsed];
    }

    private static function drain(Relay $relay): void
    {
        while ($relay->runOnce() > 0);
    }
}
