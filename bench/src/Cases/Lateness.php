<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\Numbers;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use RuntimeException;

/** How long after its due time an idle worker of this extension gets a delayed job. */
final class Lateness implements Benchmark
{
    public function run(Session $session): Table
    {
        $columns = ['p50_ms' => 'p50 ms', 'p99_ms' => 'p99 ms', 'latest_ms' => 'latest ms', 'earliest_ms' => 'earliest ms'];
        $table = new Table('lateness', 'Lateness of delayed jobs, idle worker', $columns, 'Below zero is early. Redis runs at hz 10.');
        $rows = $session->has(Peers::OURS) ? [Peers::OURS => static fn () => self::measure($session)] : [];
        $session->rotate($table, $rows);

        return $table;
    }

    public function figures(Table $table): array
    {
        $earliest = $table->values(Peers::OURS, 'earliest_ms');

        return [
            Figure::atMost('lateness of an idle worker, p50, ms', 1.2, $table->values(Peers::OURS, 'p50_ms')),
            Figure::atMost('lateness of an idle worker, p99, ms', 4.0, $table->values(Peers::OURS, 'p99_ms')),
            // One early job in any run is too many.
            Figure::atLeast('never early: the earliest job, ms after its due time', 0.0, $earliest === [] ? [] : [min($earliest)]),
        ];
    }

    /** @return array<string, float> */
    private static function measure(Session $session): array
    {
        $server = $session->server(Peers::OURS);
        $count = $session->jobs(300, 100, least: 20);
        $result = Child::run(new Task(Peers::OURS, 'Lateness', $server->endpoint(), seconds: $session->seconds(10, 3), count: $count));
        if ($result['lost'] > 0) {
            throw new RuntimeException("$result[lost] jobs did not come in time");
        }

        return [
            'p50_ms' => Numbers::percentile($result['late_ms'], 50),
            'p99_ms' => Numbers::percentile($result['late_ms'], 99),
            'latest_ms' => max($result['late_ms']),
            'earliest_ms' => min($result['late_ms']),
        ];
    }
}
