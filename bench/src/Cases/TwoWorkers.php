<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Cases;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Traits;

/** Two workers on one full queue, which start together. */
final class TwoWorkers implements Benchmark
{
    /** @param list<int> $prefetches */
    public function __construct(private readonly array $prefetches)
    {
    }

    public function run(Session $session): iterable
    {
        foreach ($this->prefetches as $prefetch) {
            $columns = ['jobs_per_s' => 'jobs/s of both', 'client_us' => 'client CPU µs', 'p99_us' => 'p99 µs'];
            $table = new Table("two-workers-$prefetch", "Two workers, prefetch $prefetch", $columns);
            $peers = $session->peers(static fn (Traits $peer) => Cases::takesPart($peer, $prefetch));
            $session->rotate($table, $peers, strval(...), function (string $peer, Table $table) use ($session, $prefetch): void {
                $server = $session->server($peer);
                $count = Throughput::fill($session, $peer, $server->endpoint(), $prefetch);
                $task = new Task(
                    $peer,
                    'Consume',
                    $server->endpoint(),
                    seconds: $session->seconds(1.0, 0.4),
                    count: intdiv($count, 2),
                    prefetch: $prefetch,
                    onSignal: true,
                );
                $workers = [new Child($task), new Child($task)];
                array_map(static fn (Child $worker) => $worker->waitUntilReady(), $workers);
                array_map(static fn (Child $worker) => $worker->start(), $workers);
                [$one, $other] = array_map(static fn (Child $worker) => $worker->result(), $workers);
                $table->add($peer, [
                    'jobs_per_s' => $one['jobs_per_s'] + $other['jobs_per_s'],
                    'client_us' => ($one['client_us'] + $other['client_us']) / 2,
                    'p99_us' => max($one['p99_us'], $other['p99_us']),
                ]);
            });
            yield $table;
        }
    }

    public function packages(): array
    {
        return [];
    }
}
