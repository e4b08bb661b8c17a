<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\Machine;
use DelayQueue\Bench\Server;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;
use DelayQueue\Bench\Traits;

/** What a push and a whole job cost when many delayed jobs wait. All the queues of all peers are there at the same time. */
final class Depth implements Benchmark
{
    private const LEVELS = [10_000, 100_000, 1_000_000];

    private const LARGEST = 5_000_000;

    /** Not for peers that need far more memory for a job. */
    private const PEERS_OF_LARGEST = ['delayqueue', 'two-key', 'beanstalkd'];

    /** What all queues together need. */
    private const LARGEST_NEEDS_GIB = 12;

    /** @var array<string, non-empty-array<int, Server>> peer, level */
    private array $servers = [];

    public function run(Session $session): iterable
    {
        $tables = [];
        foreach (self::levels($session) as $level) {
            $columns = ['push_us' => 'push p50 µs', 'cycle_us' => 'push + reserve + ack p50 µs'];
            $tables[$level] = new Table("depth-$level", number_format($session->jobs($level)) . ' delayed jobs are waiting', $columns);
        }
        $peers = $session->peers(static fn (Traits $peer) => !$peer->isFloor);
        $session->rotate(reset($tables), $peers, strval(...), function (string $peer) use ($session, $tables): void {
            $servers = $this->servers[$peer] ??= self::fill($session, $peer);
            $endpoints = array_map(static fn (Server $server) => $server->endpoint(), array_values($servers));
            $count = $session->jobs(1000, 500);
            $result = Child::run(new Task($peer, 'Depth', $endpoints[0], count: $count, others: array_slice($endpoints, 1)));
            foreach (array_keys($servers) as $at => $level) {
                $tables[$level]->add($peer, ['push_us' => $result["push_us_$at"], 'cycle_us' => $result["cycle_us_$at"]]);
            }
        });
        $this->servers = [];
        yield from array_values($tables);
    }

    public function packages(): array
    {
        return [];
    }

    /** @return non-empty-array<int, Server> by level */
    private static function fill(Session $session, string $peer): array
    {
        $servers = [];
        foreach (self::levels($session) as $level) {
            if ($level === self::LARGEST && !in_array($peer, self::PEERS_OF_LARGEST, true)) {
                continue;
            }
            $count = $session->jobs($level);
            $session->say(sprintf('depth: filling %s with %s', $peer, number_format($count)));
            $servers[$level] = $session->server($peer);
            Child::run(new Task($peer, 'Fill', $servers[$level]->endpoint(), count: $count));
        }

        return $servers;
    }

    /** @return non-empty-list<int> */
    private static function levels(Session $session): array
    {
        static $hasRoom = null;
        $hasRoom ??= Machine::freeMemoryGib() >= self::LARGEST_NEEDS_GIB * $session->settings->scale;

        return $hasRoom && !$session->settings->quick ? [...self::LEVELS, self::LARGEST] : self::LEVELS;
    }
}
