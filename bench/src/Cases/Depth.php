<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;

/** The cost of a push and of a whole job while many delayed jobs wait. */
final class Depth implements Benchmark
{
    private const LEVELS = [10_000, 100_000, 1_000_000];

    public function run(Session $session): Table
    {
        $columns = ['push_us' => 'push p50 µs', 'cycle_us' => 'push + reserve + ack p50 µs'];
        $table = new Table('depth', 'While delayed jobs wait', $columns);
        if (!$session->has(Peers::OURS)) {
            return $table;
        }
        $servers = [];
        foreach (self::LEVELS as $level) {
            $count = $session->jobs($level);
            $name = number_format($count) . ' jobs wait';
            $session->say("depth: $name");
            $servers[$name] = $session->server(Peers::OURS);
            Child::run(new Task(Peers::OURS, 'Fill', $servers[$name]->endpoint(), count: $count));
        }
        $endpoints = array_map(static fn ($server) => $server->endpoint(), array_values($servers));
        for ($run = 0; $run < $session->settings->runs; $run++) {
            $session->say("depth $run");
            $task = new Task(Peers::OURS, 'Depth', $endpoints[0], count: $session->jobs(1000, 500), others: array_slice($endpoints, 1));
            $result = Child::run($task);
            foreach (array_keys($servers) as $at => $name) {
                $table->add($name, $run, ['push_us' => $result["push_us_$at"], 'cycle_us' => $result["cycle_us_$at"]]);
            }
        }

        return $table;
    }

    public function figures(Table $table): array
    {
        return [];
    }
}
