<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;

/** Several workers of this extension on one full queue; all of them start together. */
final class Workers implements Benchmark
{
    /** Workers and their prefetch. */
    private const CREWS = [[1, 16], [2, 16], [3, 64]];

    public function run(Session $session): Table
    {
        $columns = [
            'jobs_per_s' => 'jobs/s of all', 'server_us' => 'server CPU µs', 'client_us' => 'client CPU µs', 'p99_us' => 'p99 µs',
        ];
        $table = new Table('workers', 'Workers of this extension on one Redis', $columns, 'CPU times are per job.');
        $rows = [];
        if ($session->has(Peers::OURS)) {
            foreach (self::CREWS as [$workers, $prefetch]) {
                $rows[self::name($workers, $prefetch)] = static fn () => self::measure($session, $workers, $prefetch);
            }
        }
        $session->rotate($table, $rows);

        return $table;
    }

    public function figures(Table $table): array
    {
        $three = $table->values(self::name(3, 64), 'jobs_per_s');
        $ratios = $table->ratios(self::name(2, 16), self::name(1, 16), 'jobs_per_s');

        return [
            Figure::atLeast('jobs a second through one Redis core, prefetch 64, three workers', 80_000, $three),
            Figure::atLeast('two workers, prefetch 16, of one', 1.5, $ratios),
        ];
    }

    /** @return array<string, float> */
    private static function measure(Session $session, int $workers, int $prefetch): array
    {
        $count = $session->jobs(300_000, 120_000);
        $server = $session->filledServer(Peers::OURS, $count);
        $task = new Task(
            Peers::OURS,
            'Consume',
            $server->endpoint(),
            seconds: $session->seconds(1.0, 0.4),
            count: intdiv($count, $workers),
            prefetch: $prefetch,
            onSignal: true,
        );
        $crew = array_map(static fn () => new Child($task), range(1, $workers));
        array_map(static fn (Child $worker) => $worker->waitUntilReady(), $crew);
        array_map(static fn (Child $worker) => $worker->start(), $crew);
        $results = array_map(static fn (Child $worker) => $worker->result(), $crew);
        $rate = array_sum(array_column($results, 'jobs_per_s'));
        // Each worker divides the server's time by its own jobs; the server worked for all of them.
        $serverBusy = array_sum(array_map(static fn (array $one) => $one['server_us'] * $one['jobs_per_s'], $results)) / $workers;

        return [
            'jobs_per_s' => $rate,
            'server_us' => $serverBusy / $rate,
            'client_us' => array_sum(array_column($results, 'client_us')) / $workers,
            'p99_us' => max(array_column($results, 'p99_us')),
        ];
    }

    private static function name(int $workers, int $prefetch): string
    {
        return "$workers " . ($workers === 1 ? 'worker' : 'workers') . ", prefetch $prefetch";
    }
}
