<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\RedisServer;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;

/** `memory://` beside Redis over a Unix socket: a push, and reserve() with ack(), while so many jobs are ready. */
final class MemoryEngine implements Benchmark
{
    private const LEVELS = [1_000, 100_000];

    public function run(Session $session): Table
    {
        $columns = [
            'push_us' => 'push p50 µs', 'push_cpu_us' => 'push CPU µs',
            'take_us' => 'reserve + ack p50 µs', 'take_cpu_us' => 'reserve + ack CPU µs',
            'first_ms' => 'first push of the process, ms',
        ];
        $table = new Table('memory-engine', 'memory:// beside Redis', $columns, 'CPU is that of client and server.');
        if (!$session->has(Peers::OURS)) {
            return $table;
        }
        for ($run = 0; $run < $session->settings->runs; $run++) {
            foreach (self::LEVELS as $level) {
                $count = $session->jobs($level);
                $session->say("memory-engine $run: " . number_format($count));
                $server = $session->server(Peers::OURS);
                assert($server instanceof RedisServer);
                $calls = $session->jobs(4_000, 1_000);
                $task = new Task(Peers::OURS, 'MemoryEngine', $server->nearby(), count: $calls, batch: $count);
                $result = Child::run($task);
                foreach (['Redis', 'memory://'] as $store) {
                    $table->add(self::row($level, $store), $run, array_combine(
                        array_keys($columns),
                        array_map(static fn (string $name) => $result["$store $name"], array_keys($columns)),
                    ));
                }
            }
        }

        return $table;
    }

    public function figures(Table $table): array
    {
        $figures = [];
        $first = [];
        foreach (self::LEVELS as $level) {
            [$ours, $theirs] = [self::row($level, 'memory://'), self::row($level, 'Redis')];
            $of = static fn (string $metric) => $table->ratios($ours, $theirs, $metric);
            $jobs = number_format($level) . ' jobs, memory:// of Redis';
            $figures[] = Figure::atMost("$jobs: push", 1.3, $of('push_us'));
            $figures[] = Figure::atMost("$jobs: reserve + ack", 1.3, $of('take_us'));
            $figures[] = Figure::atMost("$jobs: CPU of push", 1.0, $of('push_cpu_us'));
            $figures[] = Figure::atMost("$jobs: CPU of reserve + ack", 1.0, $of('take_cpu_us'));
            array_push($first, ...$table->values($ours, 'first_ms'));
        }

        return [...$figures, Figure::atMost('first use of memory://, ms', 10, $first)];
    }

    private static function row(int $level, string $store): string
    {
        return number_format($level) . " jobs, $store";
    }
}
