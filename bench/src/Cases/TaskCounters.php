<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Server;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use RuntimeException;

/**
 * What counting by task costs a worker: its instructions for a job of one of 50 tasks, and for one as large of none, outside the kernel. Two runs with
 * different numbers of jobs are subtracted. What is more takes as much more of the time that the worker runs outside the kernel.
 */
final class TaskCounters implements Benchmark
{
    private const TASKS = 50;
    private const PREFETCH = [1, 16];
    private const A_SECOND = 1_000;
    private const FEW = 512;
    private const MANY = 4_608;

    public function run(Session $session): Table
    {
        $columns = [
            'plain' => 'instructions without a task', 'counted' => 'with one of ' . self::TASKS . ' tasks',
            'user_us' => 'µs outside the kernel', 'share' => '% of a processor for counting 1,000 a second',
        ];
        $table = new Table('tasks', 'A worker that counts by task, each job', $columns, 'Its handler does nothing.');
        if (!$session->has(Peers::OURS)) {
            return $table;
        }
        $rows = [];
        foreach (self::PREFETCH as $prefetch) {
            $rows["prefetch $prefetch"] = static fn () => self::measure($session, $prefetch);
        }
        $session->rotate($table, $rows, runs: 1);

        return $table;
    }

    public function figures(Table $table): array
    {
        return array_map(
            static fn (int $prefetch) => Figure::atMost("counting by task at 1,000 jobs/s, prefetch $prefetch, %", 1.0, $table->values("prefetch $prefetch", 'share')),
            self::PREFETCH,
        );
    }

    /** @return array<string, float> */
    private static function measure(Session $session, int $prefetch): array
    {
        $result = [];
        foreach (['plain' => 0, 'counted' => self::TASKS] as $name => $tasks) {
            $session->say("tasks: $name with prefetch $prefetch");
            $count = static fn (int $jobs) => self::count($session, $prefetch, $tasks, $jobs);
            $result[$name] = ($count(self::MANY) - $count(self::FEW)) / (self::MANY - self::FEW);
        }

        $server = $session->server(Peers::OURS);
        $jobs = $session->jobs(20_000);
        Child::run(new Task(Peers::OURS, 'FillTasks', $server->endpoint(), count: $jobs));
        $userUs = Child::run(self::task($server, $prefetch, $jobs))['user_us'];

        return $result + ['user_us' => $userUs, 'share' => ($result['counted'] / $result['plain'] - 1) * $userUs * self::A_SECOND / 1e6 * 100];
    }

    private static function count(Session $session, int $prefetch, int $tasks, int $jobs): int
    {
        $server = $session->server(Peers::OURS);
        Child::run(new Task(Peers::OURS, 'FillTasks', $server->endpoint(), count: $jobs, groups: $tasks));
        $client = new Child(self::task($server, $prefetch, $jobs), Instructions::CALLGRIND);
        $client->result();
        if (!preg_match('/Collected : (\d+)/', $client->process->errors(), $found)) {
            throw new RuntimeException("callgrind counted nothing: {$client->process->errors()}");
        }

        return (int) $found[1];
    }

    private static function task(Server $server, int $prefetch, int $jobs): Task
    {
        return new Task(Peers::OURS, 'ConsumeTasks', $server->endpoint(), seconds: 3600, count: $jobs, prefetch: $prefetch);
    }
}
