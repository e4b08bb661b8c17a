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

/** Pushing delayed jobs one at a time. */
final class Push implements Benchmark
{
    public function run(Session $session): Table
    {
        $columns = [
            'jobs_per_s' => 'jobs/s', 'p50_us' => 'p50 µs', 'p99_us' => 'p99 µs',
            'client_us' => 'client CPU µs', 'server_us' => 'server CPU µs',
        ];
        $table = new Table('push', 'Push, one at a time', $columns);
        $rows = [];
        foreach ($session->peers() as $peer) {
            $rows[$peer] = static function () use ($session, $peer): array {
                $server = $session->server($peer);

                return Child::run(new Task($peer, 'Push', $server->endpoint(), seconds: $session->seconds(1.0, 0.4)));
            };
        }
        $session->rotate($table, $rows);

        return $table;
    }

    public function figures(Table $table): array
    {
        return [
            Figure::atLeast('push, of the two-key recipe', 0.92, $table->ratios(Peers::OURS, 'two-key', 'jobs_per_s')),
            Figure::atLeast('push, of beanstalkd', 1.0, $table->ratios(Peers::OURS, 'beanstalkd', 'jobs_per_s')),
        ];
    }
}
