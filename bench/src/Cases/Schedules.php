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

/** How late one runner pushes the jobs of many schedules: spread over a minute, and all at once. */
final class Schedules implements Benchmark
{
    private string $spread = '';

    public function run(Session $session): Table
    {
        $columns = ['p50_ms' => 'p50 ms', 'p99_ms' => 'p99 ms', 'latest_ms' => 'latest ms', 'wave_s' => 'all in s', 'cpu_us' => 'CPU of the runner, µs each'];
        $note = 'From the moment of a schedule until its job is pushed and the schedule is back. One runner.';
        $table = new Table('schedules', 'Schedules', $columns, $note);
        if (!$session->has(Peers::OURS)) {
            return $table;
        }
        $count = $session->jobs(100_000, least: 200);
        // As many a second, however short it is.
        $seconds = 60 * $count / 100_000;
        $this->spread = number_format($count) . sprintf(' schedules every 60 s, spread over %.3g s', $seconds);
        $session->rotate($table, [
            $this->spread => static fn () => self::measure($session, $count, $seconds),
            number_format($count) . ' lines of cron for each minute' => static fn () => self::measure($session, $count, 0.0),
        ]);

        return $table;
    }

    public function figures(Table $table): array
    {
        return [Figure::atMost('lateness of 100,000 schedules spread over a minute, p99, ms', 50, $table->values($this->spread, 'p99_ms'))];
    }

    /** @return array<string, float> */
    private static function measure(Session $session, int $count, float $seconds): array
    {
        $server = $session->server(Peers::OURS);
        $result = Child::run(new Task(Peers::OURS, 'RunSchedules', $server->endpoint(), seconds: $seconds, count: $count));
        if ($result['pushed'] !== $count) {
            throw new RuntimeException("$result[pushed] jobs of $count were pushed");
        }

        return [
            'p50_ms' => Numbers::percentile($result['late_ms'], 50),
            'p99_ms' => Numbers::percentile($result['late_ms'], 99),
            'latest_ms' => max($result['late_ms']),
            'wave_s' => $result['wave_s'],
            'cpu_us' => $result['cpu_us'],
        ];
    }
}
