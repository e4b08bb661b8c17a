<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Traits;

/** How long after the push of a job that is due at once an idle worker in another process gets it. */
final class Wake implements Benchmark
{
    public function run(Session $session): iterable
    {
        $columns = ['p50_ms' => 'p50 ms', 'p99_ms' => 'p99 ms', 'max_ms' => 'latest ms'];
        $table = new Table('wake', 'From an immediate push to an idle worker', $columns);
        $peers = $session->peers(static fn (Traits $peer) => !$peer->isFloor);
        $session->rotate($table, $peers, strval(...), static function (string $peer, Table $table) use ($session): void {
            $server = $session->server($peer);
            $count = $session->jobs(200, 60, least: 20);
            $task = new Task($peer, 'Listen', $server->endpoint(), seconds: 30.0 + $count / 10, count: $count, onSignal: true);
            $worker = new Child($task);
            $worker->waitUntilReady();
            $worker->start();
            Child::run(new Task($peer, 'Knock', $server->endpoint(), count: $count));
            $table->add($peer, Lateness::summary($worker->result()['late_ms']));
        });
        yield $table;
    }

    public function packages(): array
    {
        return [];
    }
}
