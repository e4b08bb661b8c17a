<?php

declare(strict_types=1);

namespace DelayQueue\Bench\Cases;

use DelayQueue\Bench\Benchmark;
use DelayQueue\Bench\Child;
use DelayQueue\Bench\ClusterNode;
use DelayQueue\Bench\Cpu;
use DelayQueue\Bench\Endpoint;
use DelayQueue\Bench\Peers;
use DelayQueue\Bench\Session;
use DelayQueue\Bench\Table;
use DelayQueue\Bench\Task;

/**
 * One queue over the nodes of a cluster: two workers empty it. Where nodes and workers share few cores, the even spread of the work shows how
 * far it would scale, and not the jobs a second.
 */
final class Partitions implements Benchmark
{
    private const NODES = 3;
    private const WORKERS = 2;

    public function run(Session $session): Table
    {
        $columns = ['jobs_per_s' => 'jobs/s of all', 'push_us' => 'server CPU µs a push', 'server_us' => 'server CPU µs a job'];
        foreach (range(1, self::NODES) as $node) {
            $columns["node$node"] = "% on node $node";
        }
        $note = 'Pushes in batches of 500; workers with prefetch 64. CPU of all nodes, and the share of each in that of the workers\' jobs.';
        $table = new Table('partitions', 'A queue over the three nodes of a cluster', $columns, $note);
        $rows = [];
        if ($session->has(Peers::OURS)) {
            foreach ([1, 2, 4, 8] as $partitions) {
                $name = $partitions === 1 ? '1 partition' : "$partitions partitions";
                $rows[$name] = static fn () => self::measure($session, $partitions);
            }
        }
        $session->rotate($table, $rows);

        return $table;
    }

    public function figures(Table $table): array
    {
        return [];
    }

    /** @return array<string, float> */
    private static function measure(Session $session, int $partitions): array
    {
        $count = $session->jobs(200_000, 60_000);
        $nodes = ClusterNode::cluster($session, self::NODES);
        $seeds = implode(',', array_map(static fn (ClusterNode $node) => "127.0.0.1:$node->port", $nodes));
        $first = $nodes[0]->endpoint();
        $endpoint = new Endpoint($first->pid, $first->port, cluster: $seeds, partitions: $partitions);
        $busy = static fn () => array_map(static fn (ClusterNode $node) => Cpu::ofProcessUs($node->endpoint()->pid), $nodes);

        $before = $busy();
        Child::run(new Task(Peers::OURS, 'Fill', $endpoint, count: $count, delayMs: 0));
        $filled = $busy();
        $each = intdiv($count, self::WORKERS);
        $task = new Task(Peers::OURS, 'Consume', $endpoint, seconds: 60, count: $each, prefetch: 64, onSignal: true);
        $crew = array_map(static fn () => new Child($task), range(1, self::WORKERS));
        array_map(static fn (Child $worker) => $worker->waitUntilReady(), $crew);
        array_map(static fn (Child $worker) => $worker->start(), $crew);
        $results = array_map(static fn (Child $worker) => $worker->result(), $crew);
        $spent = array_map(static fn (float $now, float $then) => $now - $then, $busy(), $filled);

        $result = [
            'jobs_per_s' => array_sum(array_column($results, 'jobs_per_s')),
            'push_us' => (array_sum($filled) - array_sum($before)) / $count,
            'server_us' => array_sum($spent) / $count,
        ];
        foreach ($spent as $number => $us) {
            $result['node' . ($number + 1)] = 100 * $us / array_sum($spent);
        }

        return $result;
    }
}
