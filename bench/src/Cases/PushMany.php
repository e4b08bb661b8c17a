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
use DelayQueue\Bench\Traits;

/** Pushing delayed jobs a hundred at a time. */
final class PushMany implements Benchmark
{
    private const BATCH = 100;

    public function run(Session $session): Table
    {
        $columns = ['jobs_per_s' => 'jobs/s', 'p50_us' => 'p50 µs a job', 'p99_us' => 'p99 µs a job'];
        $table = new Table('push-many', 'pushMany() of ' . self::BATCH, $columns, 'two-key sends a phpredis pipeline.');
        $rows = [];
        foreach ($session->peers(static fn (Traits $peer) => $peer->batches) as $peer) {
            $rows[$peer] = static function () use ($session, $peer): array {
                $server = $session->server($peer);
                $seconds = $session->seconds(1.0, 0.4);

                return Child::run(new Task($peer, 'PushMany', $server->endpoint(), seconds: $seconds, batch: self::BATCH));
            };
        }
        $session->rotate($table, $rows);

        return $table;
    }

    public function figures(Table $table): array
    {
        $ratios = $table->ratios(Peers::OURS, 'two-key', 'jobs_per_s');

        return [Figure::atLeast('pushMany(100), of the recipe in a pipeline', 1.3, $ratios)];
    }
}
