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

/** A worker that empties a queue of jobs that are not all alike, beside one that empties a plain queue. */
final class MixedJobs implements Benchmark
{
    /** Row: the work that fills its queue, and the work that empties it. */
    private const ROWS = [
        'plain' => ['Fill', 'Consume'],
        'mixed, all succeed' => ['FillMixed', 'Consume'],
        'mixed, 5 % fail' => ['FillMixed', 'ConsumeMixed'],
    ];

    public function run(Session $session): Table
    {
        $columns = [
            'jobs_per_s' => 'jobs/s', 'p50_us' => 'p50 µs', 'p99_us' => 'p99 µs',
            'client_us' => 'client CPU µs', 'server_us' => 'server CPU µs',
        ];
        $note = 'Mixed: 5 % of the jobs came back, 10 % have a TTR of their own and 10 % a priority of their own.';
        $table = new Table('mixed', 'A worker with prefetch 16 empties a queue', $columns, $note);
        $rows = [];
        foreach ($session->has(Peers::OURS) ? self::ROWS : [] as $name => [$fill, $consume]) {
            $rows[$name] = static fn () => self::measure($session, $fill, $consume);
        }
        $session->rotate($table, $rows);

        return $table;
    }

    public function figures(Table $table): array
    {
        $name = 'prefetch 16 with 5 % retries, own TTRs, and one priority in ten: of the plain queue';

        return [Figure::atLeast($name, 0.6, $table->ratios('mixed, 5 % fail', 'plain', 'jobs_per_s'))];
    }

    /** @return array<string, mixed> */
    private static function measure(Session $session, string $fill, string $consume): array
    {
        $count = $session->jobs(60_000, 20_000);
        $server = $session->server(Peers::OURS);
        Child::run(new Task(Peers::OURS, $fill, $server->endpoint(), count: $count, delayMs: 0));

        // The whole queue: jobs of other priorities come first or last, and all of them count.
        return Child::run(new Task(Peers::OURS, $consume, $server->endpoint(), seconds: 60.0, count: $count, prefetch: 16));
    }
}
