<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use Closure;
use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Traits;

/** As many jobs as possible in a given time, from one process, on a fresh server each. */
final class Throughput implements Benchmark
{
    private const COLUMNS = [
        'jobs_per_s' => 'jobs/s',
        'p50_us' => 'p50 µs',
        'p99_us' => 'p99 µs',
        'client_us' => 'client CPU µs',
        'server_us' => 'server CPU µs',
        'first_ms' => 'first after ms',
    ];

    /**
     * @param Closure(Traits): bool $fits
     * @param list<string> $without columns that have no meaning here
     * @param array<string, mixed> $task more properties of the Task
     */
    public function __construct(
        private readonly string $name,
        private readonly string $title,
        private readonly string $work,
        private readonly Closure $fits,
        private readonly string $note = '',
        private readonly array $without = ['first_ms'],
        private readonly bool $fills = false,
        private readonly bool $unix = false,
        private readonly array $task = [],
        private readonly bool $variants = false,
    ) {
    }

    public function run(Session $session): iterable
    {
        $columns = array_diff_key(self::COLUMNS, array_flip($this->without));
        $table = new Table($this->name, $this->title, $columns, $this->note);
        $peers = $session->peers($this->fits, $this->variants);
        $session->rotate($table, $peers, strval(...), function (string $peer, Table $table) use ($session): void {
            $server = $session->server($peer);
            $endpoint = $server->endpoint()->with(unix: $this->unix);
            $count = $this->fills ? self::fill($session, $peer, $endpoint, $this->task['prefetch'] ?? 1) : PHP_INT_MAX;
            $table->add($peer, Child::run(new Task(
                $peer,
                $this->work,
                $endpoint,
                ...$this->task + ['seconds' => $session->seconds(1.0, 0.4), 'count' => $count],
            )));
        });
        yield $table;
    }

    public function packages(): array
    {
        return [];
    }

    /** Puts as many due jobs there as a worker may handle in the time it has; returns how many. */
    public static function fill(Session $session, string $peer, Endpoint $endpoint, int $prefetch): int
    {
        $fast = $prefetch > 1 && Peers::traits($peer)->prefetches;
        $count = $fast ? $session->jobs(500_000, 200_000) : $session->jobs(40_000, 20_000);
        Child::run(new Task($peer, 'Fill', $endpoint, count: $count, delayMs: 0));

        return $count;
    }
}
