<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Server;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Traits;

/** The server's memory for each waiting job. */
final class Memory implements Benchmark
{
    /** A server that has just been filled may still be tidying up its tables. */
    private const SETTLED = 0.0005;

    public function run(Session $session): Table
    {
        $count = $session->jobs(100_000);
        $columns = ['mean_bytes' => 'mean'];
        foreach (self::payloadBytes() as $bytes) {
            $columns["bytes_$bytes"] = "$bytes B payload";
        }
        $title = 'Bytes of server memory per waiting job, ' . number_format($count) . ' jobs';
        $table = new Table('memory', $title, $columns, 'Ids have 16 bytes. Redis: used_memory; beanstalkd: resident memory.');
        $rows = [];
        foreach ($session->peers(static fn (Traits $peer) => !$peer->isFloor) as $peer) {
            $rows[$peer] = static fn () => self::measure($session, $peer, $count);
        }
        // Nothing random is in it: one run says all.
        $session->rotate($table, $rows, runs: 1);

        return $table;
    }

    public function figures(Table $table): array
    {
        $ratios = [];
        foreach (self::payloadBytes() as $bytes) {
            array_push($ratios, ...$table->ratios(Peers::OURS, 'beanstalkd', "bytes_$bytes"));
        }
        $name = "memory of a job, payloads of 50, 100, … 500 bytes: mean of beanstalkd's";

        return [Figure::atMost($name, 1.05, $ratios === [] ? [] : [array_sum($ratios) / count($ratios)])];
    }

    /** @return list<int> */
    private static function payloadBytes(): array
    {
        return range(50, 500, 50);
    }

    /** @return array<string, float> */
    private static function measure(Session $session, string $peer, int $count): array
    {
        $result = [];
        foreach (self::payloadBytes() as $bytes) {
            $server = $session->server($peer);
            $before = $server->memory();
            Child::run(new Task($peer, 'Fill', $server->endpoint(), count: $count, payloadBytes: $bytes));
            $result["bytes_$bytes"] = (self::settled($server) - $before) / $count;
        }

        return ['mean_bytes' => array_sum($result) / count($result)] + $result;
    }

    private static function settled(Server $server): int
    {
        do {
            $before = $server->memory();
            usleep(300_000);
            $after = $server->memory();
        } while (abs($after - $before) > self::SETTLED * $before);

        return $after;
    }
}
