<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\State;
use DelayQueue\Tests\Support\Php;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\ProcessTestCase;

/** Workers are killed all the time, Redis forgets scripts and drops connections, and the work gets done. */
final class ChaosTest extends ProcessTestCase
{
    private const WORKERS = 4;

    private const JOBS = 3000;

    private const PATIENCE = 240.0;

    /** @var list<Process> */
    private array $workers = [];

    protected function tearDown(): void
    {
        foreach ($this->workers as $worker) {
            $worker->kill();
        }
        parent::tearDown();
    }

    public function testNoJobIsLostWhileWorkersAreKilled(): void
    {
        $queue = $this->queue(['ttr' => 0.5, 'maxAttempts' => 0]);
        $ids = [];
        foreach (array_chunk(range(1, self::JOBS), 100) as $chunk) {
            $jobs = array_map(static fn (int $n) => ['payload' => $n, 'delay' => $n % 4, 'priority' => 1024 + $n % 2], $chunk);
            array_push($ids, ...$queue->pushMany($jobs));
        }
        $log = $this->redis->folder->path . '/executed';
        touch($log);
        for ($n = 0; $n < self::WORKERS; $n++) {
            $this->workers[] = $this->worker($log);
        }

        $kills = 0;
        $deadline = microtime(true) + self::PATIENCE;
        while ($queue->count() > 0) {
            $this->assertLessThan($deadline, microtime(true), "{$queue->count()} jobs are left: " . print_r($queue->stats(), true));
            usleep(random_int(20_000, 150_000));
            $victim = array_rand($this->workers);
            $this->workers[$victim]->kill();
            $kills++;
            $this->workers[$victim] = $this->worker($log);
            match (random_int(0, 5)) {
                0 => $this->redis->ask('SCRIPT', 'FLUSH'),
                1 => $this->redis->ask('CLIENT', 'KILL', 'TYPE', 'normal'),
                default => null,
            };
        }

        $executions = file($log, FILE_IGNORE_NEW_LINES);
        $times = array_count_values(array_map(static fn (string $line) => strtok($line, ' '), $executions));
        $stats = $queue->stats();
        $this->assertSame([], array_diff($ids, array_keys($times)), 'none is lost');
        $this->assertSame([], array_diff(array_keys($times), $ids), 'none is invented');
        $this->assertSame(self::JOBS, $stats->acked);
        $this->assertSame(0, $stats->delayed + $stats->ready + $stats->reserved + $stats->buried);
        // A job that was fetched behind another may have begun when its worker was killed: that counts no attempt, once.
        $this->assertLessThanOrEqual(2, max(array_count_values($executions)), 'an attempt is handed out twice at most');
        $twice = count($executions) - self::JOBS;
        $this->assertLessThanOrEqual($stats->timedOut, $twice, 'a job is executed again only after its lease ran out');
        $this->assertGreaterThan(20, $kills);
        $this->assertGreaterThan(0, $stats->timedOut, 'workers were killed with jobs in hand');
        foreach (State::cases() as $state) {
            $this->assertSame([], $queue->list($state));
        }
    }

    private function worker(string $log): Process
    {
        return Php::program('consume.php', $this->redis->dsn(), $this->queueName, $log, '12000');
    }
}
