<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Delay;
use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Figure;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\RedisServer;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;

/**
 * A loop of many queues, or of many partitions of one, a tenth of a second away: after its start, and after its
 * connections were lost.
 */
final class FarAway implements Benchmark
{
    private const DELAY_EACH_WAY_US = 50_000;

    /** Queues, and partitions of each. */
    private const ROWS = ['1 queue' => [1, 1], '1,000 queues' => [1000, 1], '256 partitions' => [1, 256]];

    public function run(Session $session): Table
    {
        $columns = [
            'ready_ms' => 'ready, ms', 'start_ms' => 'first job, ms', 'start_trips' => 'trips',
            'idle_ms' => 'a job while idle, ms', 'idle_trips' => 'trips ',
            'killed_ms' => 'a job after CLIENT KILL, ms', 'killed_trips' => 'trips  ', 'stats_ms' => 'stats(), ms',
        ];
        $note = 'A loop whose Redis is 50 ms away, each way. Ready and the first job, which is there, count from the '
            . 'call of consume(); the job after CLIENT KILL from that. Trips: of all its connections.';
        $table = new Table('far-away', 'Many queues, far away', $columns, $note);
        if ($session->has(Peers::OURS)) {
            $binary = Delay::compile($session->folder->path);
            $measure = static fn (array $size) => static fn () => self::measure($session, $binary, ...$size);
            $session->rotate($table, array_map($measure, self::ROWS));
        }

        return $table;
    }

    public function figures(Table $table): array
    {
        return [];
    }

    /** @return array<string, float> */
    private static function measure(Session $session, string $binary, int $queues, int $partitions): array
    {
        $server = $session->server(Peers::OURS);
        assert($server instanceof RedisServer);
        $near = $server->endpoint();
        $proxy = new Delay($binary, $near->port, self::DELAY_EACH_WAY_US);
        $endpoint = new Endpoint($near->pid, $proxy->port, partitions: $partitions);
        $worker = new Child(new Task(Peers::OURS, 'FarAway', $endpoint, count: $queues, others: [$near]));
        $trips = [];
        foreach (['start', 'idle', 'killed'] as $stage) {
            $worker->process->hear($stage, 120);
            $proxy->trips();
            if ($stage === 'killed') {
                foreach (['normal', 'pubsub'] as $type) {
                    $server->ask('CLIENT', 'KILL', 'TYPE', $type, 'SKIPME', 'yes');
                }
            }
            $worker->start();
            $worker->process->hear("$stage is over", 120);
            $trips["{$stage}_trips"] = $proxy->trips();
            $worker->start();
        }

        return $worker->result() + $trips;
    }
}
