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

/** One worker on a full queue. */
final class Consume implements Benchmark
{
    /** Prefetch, and how much faster than beanstalkd a worker with it is to be. */
    private const WANTED = [1 => 1.05, 16 => 4.0, 64 => 5.0];

    public function run(Session $session): Table
    {
        $columns = [
            'jobs_per_s' => 'jobs/s', 'p50_us' => 'p50 µs', 'p99_us' => 'p99 µs',
            'client_us' => 'client CPU µs', 'server_us' => 'server CPU µs', 'first_ms' => 'first after ms',
        ];
        $note = 'beanstalkd knows no prefetch. two-key deletes the jobs it hands out and acknowledges nothing.';
        $table = new Table('consume', 'A worker on a full queue', $columns, $note);
        $rows = [];
        foreach ($session->peers() as $peer) {
            foreach ($peer === Peers::OURS ? array_keys(self::WANTED) : [1] as $prefetch) {
                $name = $peer === Peers::OURS ? self::name($prefetch) : $peer;
                $rows[$name] = static fn () => self::measure($session, $peer, $prefetch);
            }
        }
        $session->rotate($table, $rows);

        return $table;
    }

    public function figures(Table $table): array
    {
        $figures = [];
        foreach (self::WANTED as $prefetch => $wanted) {
            $ratios = $table->ratios(self::name($prefetch), 'beanstalkd', 'jobs_per_s');
            $figures[] = Figure::atLeast("consume, prefetch $prefetch, of beanstalkd", $wanted, $ratios);
        }

        return $figures;
    }

    /** @return array<string, mixed> */
    private static function measure(Session $session, string $peer, int $prefetch): array
    {
        $count = $prefetch === 1 ? $session->jobs(40_000, 20_000) : $session->jobs(200_000, 80_000);
        $server = $session->filledServer($peer, $count);
        $seconds = $session->seconds(1.0, 0.4);

        return Child::run(new Task($peer, 'Consume', $server->endpoint(), seconds: $seconds, count: $count, prefetch: $prefetch));
    }

    private static function name(int $prefetch): string
    {
        return Peers::OURS . ", prefetch $prefetch";
    }
}
