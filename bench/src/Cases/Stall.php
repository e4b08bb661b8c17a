<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\RedisServer;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Traits;
use RuntimeException;

/**
 * How long others wait for Redis while a worker starts on a queue with very many due jobs.
 *
 * They wait for Redis, not for a processor that the worker has: it is of the lowest priority.
 */
final class Stall implements Benchmark
{
    public function run(Session $session): iterable
    {
        $count = $session->jobs(1_000_000);
        $columns = ['stall_ms' => 'longest PING ms', 'command_ms' => 'longest command ms', 'first_ms' => 'first job after ms'];
        $note = 'A bystander pings all the time; "no worker" is what the machine itself does to it. Longest command: SLOWLOG. The worker has the lowest priority.';
        $title = number_format($count) . ' due jobs, a worker starts (prefetch 64 where there is such a thing)';
        $table = new Table('stall', $title, $columns, $note, compared: null);
        $rows = [...$session->peers(static fn (Traits $peer) => $peer->server === 'redis' && !$peer->isFloor), null];
        $name = static fn (?string $peer) => $peer ?? 'no worker';
        $session->rotate($table, $rows, $name, static function (?string $peer, Table $table) use ($session, $count, $name): void {
            $server = $session->server($peer ?? 'floor');
            $worker = null;
            if ($peer !== null) {
                Child::run(new Task($peer, 'Fill', $server->endpoint(), count: $count, delayMs: 0));
                $seconds = $session->seconds(2.0, 1.0);
                $worker = new Child(new Task($peer, 'Consume', $server->endpoint(), seconds: $seconds, prefetch: 64, onSignal: true), ['nice', '-n', '19']);
                $worker->waitUntilReady();
            }
            $table->add($name($peer), self::watch($server, $worker, $session->seconds(3.0, 1.5)));
        }, runs: min(5, $session->settings->runs));
        yield $table;
    }

    public function packages(): array
    {
        return [];
    }

    /** @return array<string, float> */
    private static function watch(RedisServer $server, ?Child $worker, float $seconds): array
    {
        $server->ask('CONFIG', 'SET', 'slowlog-log-slower-than', '100');
        $server->ask('CONFIG', 'SET', 'slowlog-max-len', '10000');
        $server->ask('SLOWLOG', 'RESET');
        $longest = $server->pingMs();
        $worker?->start();
        for ($end = hrtime(true) + (int) ($seconds * 1e9); hrtime(true) < $end;) {
            $longest = max($longest, $server->pingMs());
            usleep(200);
        }
        $slowest = max([0, ...array_column($server->ask('SLOWLOG', 'GET', '-1'), 2)]);
        $result = ['stall_ms' => $longest, 'command_ms' => $slowest / 1000];
        if ($worker !== null && !$worker->process->isRunning()) {
            $result['first_ms'] = $worker->result()['first_ms'] ?? throw new RuntimeException('the worker got nothing');
        }

        return $result;
    }
}
