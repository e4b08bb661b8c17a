<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\RedisServer;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;

/**
 * How long others wait for Redis while a worker starts on a queue with very many due jobs.
 *
 * They wait for Redis, not for a processor that the worker has: the worker is of the lowest priority.
 */
final class Stall implements Benchmark
{
    public function run(Session $session): Table
    {
        $count = $session->jobs(1_000_000);
        $columns = ['ping_ms' => 'longest PING ms', 'command_ms' => 'longest command ms', 'first_ms' => 'first job after ms'];
        $note = 'Another process pings all the time; "no worker" is the share of the machine itself. Longest command: SLOWLOG.';
        $table = new Table('stall', number_format($count) . ' due jobs, a worker with prefetch 64 starts', $columns, $note);
        $rows = ['no worker' => static fn () => self::watch(self::server($session, 0), null, $session->seconds(3.0, 1.5))];
        if ($session->has(Peers::OURS)) {
            $rows[Peers::OURS] = static fn () => self::measure($session, $count);
        }
        $session->rotate($table, $rows);

        return $table;
    }

    public function figures(Table $table): array
    {
        return [];
    }

    /** @return array<string, mixed> */
    private static function measure(Session $session, int $count): array
    {
        $server = self::server($session, $count);
        $seconds = $session->seconds(2.0, 1.0);
        $task = new Task(Peers::OURS, 'Consume', $server->endpoint(), seconds: $seconds, prefetch: 64, onSignal: true);
        $worker = new Child($task, ['nice', '-n', '19']);
        $worker->waitUntilReady();

        return self::watch($server, $worker, $session->seconds(3.0, 1.5)) + $worker->result();
    }

    private static function server(Session $session, int $count): RedisServer
    {
        $server = $session->filledServer(Peers::OURS, $count);
        assert($server instanceof RedisServer);

        return $server;
    }

    /** @return array<string, float> */
    private static function watch(RedisServer $server, ?Child $worker, float $seconds): array
    {
        $server->ask('CONFIG', 'SET', 'slowlog-log-slower-than', '100');
        $server->ask('CONFIG', 'SET', 'slowlog-max-len', '10000');
        $server->ask('SLOWLOG', 'RESET');
        $longestMs = $server->pingMs();
        $worker?->start();
        for ($end = hrtime(true) + (int) ($seconds * 1e9); hrtime(true) < $end;) {
            $longestMs = max($longestMs, $server->pingMs());
            usleep(200);
        }
        $slowestUs = max([0, ...array_column($server->ask('SLOWLOG', 'GET', '-1'), 2)]);

        return ['ping_ms' => $longestMs, 'command_ms' => $slowestUs / 1000];
    }
}
