<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Numbers;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Traits;
use RuntimeException;

/** How long after its due time an idle worker gets a delayed job. */
final class Lateness implements Benchmark
{
    public function run(Session $session): iterable
    {
        $columns = ['p50_ms' => 'p50 ms', 'p99_ms' => 'p99 ms', 'max_ms' => 'latest ms', 'min_ms' => 'earliest ms'];
        $note = 'Below zero is early. "Whole seconds": with delays that a resolution of one second can keep.';
        $table = new Table('lateness', 'Lateness of delayed jobs, idle worker, Redis at hz 10', $columns, $note);
        $rows = [];
        foreach ($session->peers(static fn (Traits $peer) => !$peer->isFloor) as $peer) {
            foreach (Peers::traits($peer)->polls as $pollMs) {
                $rows[] = [$peer, $pollMs, false];
            }
            if (Peers::traits($peer)->resolutionMs > 1) {
                $rows[] = [$peer, Peers::traits($peer)->polls[0], true];
            }
        }
        $session->rotate($table, $rows, self::name(...), static function (array $row, Table $table) use ($session): void {
            [$peer, $pollMs, $whole] = $row;
            $server = $session->server($peer);
            $seconds = $session->seconds(10, 3);
            $result = Child::run(new Task(
                $peer,
                'Lateness',
                $server->endpoint()->with(pollMs: $pollMs),
                seconds: $whole ? $seconds / 2 : $seconds,
                count: $session->jobs(300, 100, least: 20),
                wholeSeconds: $whole,
            ));
            $table->add(self::name($row), self::summary($result['late_ms']));
            if ($result['lost'] > 0) {
                throw new RuntimeException("$result[lost] jobs did not come in time");
            }
        });
        yield $table;
    }

    public function packages(): array
    {
        return [];
    }

    /**
     * @param list<float> $lateMs
     *
     * @return array<string, float>
     */
    public static function summary(array $lateMs): array
    {
        return $lateMs === [] ? [] : [
            'p50_ms' => Numbers::percentile($lateMs, 50),
            'p99_ms' => Numbers::percentile($lateMs, 99),
            'max_ms' => max($lateMs),
            'min_ms' => min($lateMs),
        ];
    }

    /** @param array{string, ?int, bool} $row peer, poll interval, whole seconds */
    private static function name(array $row): string
    {
        [$peer, $pollMs, $whole] = $row;

        return $peer . ($pollMs === null ? '' : ", looks every $pollMs ms") . ($whole ? ', whole seconds' : '');
    }
}
