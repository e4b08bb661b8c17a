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

/** Reserving and acknowledging on a full queue, with a call each. */
final class ReserveAck implements Benchmark
{
    public function run(Session $session): Table
    {
        $columns = [
            'jobs_per_s' => 'jobs/s', 'p50_us' => 'p50 µs', 'p99_us' => 'p99 µs',
            'client_us' => 'client CPU µs', 'server_us' => 'server CPU µs',
        ];
        $note = 'two-key deletes the jobs it hands out: one call. The floor is one PING.';
        $table = new Table('reserve-ack', 'reserve() and ack(), two calls', $columns, $note);
        $rows = [];
        foreach ($session->peers() as $peer) {
            $rows[$peer] = static function () use ($session, $peer): array {
                $count = $session->jobs(40_000, 20_000);
                $server = $session->filledServer($peer, $count);
                $seconds = $session->seconds(1.0, 0.4);

                return Child::run(new Task($peer, 'Take', $server->endpoint(), seconds: $seconds, count: $count - 1));
            };
        }
        $session->rotate($table, $rows);

        return $table;
    }

    public function figures(Table $table): array
    {
        $ratios = $table->ratios(Peers::OURS, 'beanstalkd', 'jobs_per_s');

        return [Figure::atLeast("reserve() + ack(), of beanstalkd's reserve + delete", 0.8, $ratios)];
    }
}
