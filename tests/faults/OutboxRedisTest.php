<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults;

use DelayQueue;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;
use DelayQueue\Database\Schema;
use DelayQueue\JobInfo;
use DelayQueue\NewJob;
use DelayQueue\State;
use DelayQueue\Tests\Database\Support\DatabaseServer;
use DelayQueue\Tests\Database\Support\OnEachDatabase;
use DelayQueue\Tests\Faults\Support\FaultTestCase;
use DelayQueue\Tests\Faults\Support\Single;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use PDO;

/**
 * The outbox brings jobs again that Redis forgets, and keeps jobs that Redis cannot take at once.
 *
 * @group quick
 */
final class OutboxRedisTest extends FaultTestCase
{
    use OnEachDatabase;

    private DatabaseServer $server;

    private string $database;

    private PDO $pdo;

    private Single $redis;

    /**
     * After a failover the newest jobs are gone, and their receipts with them.
     *
     * @dataProvider databases
     */
    public function testJobsOfTheLastSecondsThatRedisForgotComeBackOnce(string $name): void
    {
        $this->arrange($name);
        $outbox = $this->outbox();
        $relay = $this->relay(after: 5.0);
        $started = microtime(true);
        for ($n = 0; $n < 60; $n++) {
            $outbox->transaction(static fn () => $outbox->push(self::QUEUE, new NewJob(['n' => $n], '1h')));
        }
        $this->assertSame(60, $this->queue()->count());
        $this->redis->node()->ask('FLUSHALL');
        for ($n = 60; $n < 70; $n++) {
            $outbox->transaction(static fn () => $outbox->push(self::QUEUE, new NewJob(['n' => $n], '1h')));
        }
        $this->assertSame(10, $this->queue()->count());
        if (microtime(true) - $started < 4.5) {
            $this->assertSame(0, $relay->runOnce(), 'rows wait five seconds for what Redis may forget');
        }
        Wait::until(static function () use ($relay, $outbox): bool {
            $relay->runOnce();

            return $outbox->waiting()['rows'] === 0;
        }, 20, 'the relay has taken all rows');
        $jobs = $this->queue()->list(State::Delayed, 0, 100);
        $numbers = array_map(static fn (JobInfo $job): int => $job->payload['n'], $jobs);
        sort($numbers);
        $this->assertSame(range(0, 69), $numbers);
    }

    /** @dataProvider databases */
    public function testAShopTakesOrdersWhileRedisIsAway(string $name): void
    {
        $this->arrange($name);
        $outbox = $this->outbox();
        [$pushed, $slowest] = [0, 0.0];
        $push = function () use ($outbox, &$pushed, &$slowest): bool {
            [$before, $began] = [$outbox->waiting()['rows'], microtime(true)];
            $outbox->pushNow(self::QUEUE, new NewJob(['n' => $pushed++]));
            $slowest = max($slowest, microtime(true) - $began);

            return $outbox->waiting()['rows'] === $before;
        };
        $isDirect = [];
        for ($outage = 0; $outage < 3; $outage++) {
            $isDirect[] = $push();
            $this->redis->node()->freeze();
            array_push($isDirect, $push(), $push(), $push(), $push());
            $this->redis->node()->thaw();
            // The client asks a server that was silent again after a second.
            Wait::until(static function () use ($push): bool {
                usleep(50_000);

                return $push();
            }, 10, 'a push reaches Redis again');
        }
        $this->assertSame(array_merge(...array_fill(0, 3, [true, false, false, false, false])), $isDirect);
        $rows = $outbox->waiting()['rows'];
        // Some jobs arrived although nobody heard an answer. They are done before the relay comes.
        $seen = $this->take();
        $this->assertGreaterThanOrEqual($pushed - $rows, array_sum($seen));
        $relay = $this->relay();
        while ($relay->runOnce() > 0);
        foreach ($this->take() as $n => $times) {
            $seen[$n] = ($seen[$n] ?? 0) + $times;
        }
        ksort($seen);
        $this->assertSame(array_fill(0, $pushed, 1), $seen);
        $this->assertSame(0, $outbox->waiting()['rows']);
        // A quarter of a second for Redis to connect, one to answer, and the insert.
        $this->assertLessThan(2.2, $slowest);
        fwrite(STDERR, sprintf("\n%s: %d pushes, %d of them rows, the slowest took %.0f ms\n", $name, $pushed, $rows, 1000 * $slowest));
    }

    /** @dataProvider databases */
    public function testTwoRelaysKeepTheOrderOfASession(string $name): void
    {
        $this->arrange($name);
        $outbox = $this->outbox();
        for ($n = 0; $n < 3000; $n += 50) {
            $rows = array_map(static fn (int $n): array => ['payload' => ['n' => $n], 'id' => sha1("$n")], range($n, $n + 49));
            $this->pdo->beginTransaction();
            $outbox->pushMany(self::QUEUE, $rows);
            $this->pdo->commit();
        }
        $outbox->discard();
        $moments = array_map(intval(...), $this->pdo->query('SELECT job, due FROM ' . Schema::OUTBOX)->fetchAll(PDO::FETCH_KEY_PAIR));
        $started = microtime(true);
        $settings = json_encode([$this->server->dsn($this->database), $this->server->user(), $this->server->password(), $this->setup->dsn()]);
        $relays = array_map(static fn (): Process => new Process([PHP_BINARY, __DIR__ . '/programs/drain-outbox.php', $settings]), [1, 2]);
        $moved = array_map(static fn (Process $relay): int => (int) $relay->line(30), $relays);
        // SQLite has no locks on rows: both relays may take one, and find it known.
        $this->assertGreaterThanOrEqual(3000, array_sum($moved));
        // All rows of a relay are placed by one offset of the clocks, which it measures again after ten seconds.
        $offsets = [];
        foreach ($this->queue()->list(State::Ready, 0, 3000) as $job) {
            $offsets[$job->payload['n']] = (int) round($job->dueAt * 1e6) - $moments[$job->id];
        }
        $measured = array_unique(array_map(static fn (int $us): int => (int) round($us / 2), $offsets));
        $this->assertLessThanOrEqual(2 * 2 * (1 + (int) ((microtime(true) - $started) / 10)), count($measured), 'rounded, one may look like two');
        $this->assertLessThan(0.5e6, max($offsets) - min($offsets), 'what a busy machine takes for a look at a clock');
        $this->assertCount(3000, $order = array_keys($this->take()));
        $last = [];
        foreach ($order as $n) {
            $offset = $offsets[$n];
            $this->assertGreaterThan($last[$offset] ?? -1, $n, 'the jobs of one offset come in the order of the session');
            $last[$offset] = $n;
        }
        fwrite(STDERR, sprintf("\n%s: relays moved %s rows, by offsets that differ by %d µs\n", $name, implode(' and ', $moved), max($offsets) - min($offsets)));
    }

    private function arrange(string $name): void
    {
        $this->setup = $this->redis = new Single();
        $this->server = DatabaseServer::named($name);
        $this->database = $this->server->fresh();
        $this->pdo = $this->server->pdo($this->database);
        Schema::install($this->pdo);
    }

    private function outbox(): Outbox
    {
        return new Outbox($this->pdo, fn (): DelayQueue => $this->queue());
    }

    private function relay(float $after = 0.0): Relay
    {
        return new Relay($this->server->pdo($this->database), fn (): DelayQueue => $this->queue(), after: $after);
    }

    /** @return array<int, int> how often each job was there, in the order of the jobs */
    private function take(): array
    {
        $seen = [];
        $queue = $this->queue();
        while ($jobs = $queue->reserveMany(500)) {
            foreach ($jobs as $job) {
                $n = $job->payload['n'];
                $seen[$n] = ($seen[$n] ?? 0) + 1;
            }
            $queue->ackMany(...$jobs);
        }

        return $seen;
    }
}
