<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue\Tests\Support\Wait;
use RuntimeException;
use Throwable;

/** The servers of one test: a single one, or more of them that replace each other. */
abstract class Setup
{
    public const DOWN_AFTER_MS = 1500;

    /** @var list<Node> */
    protected array $nodes = [];

    /** How a server saves its data and treats its replicas. */
    protected const DURABLE = ['appendonly yes', 'appendfsync everysec'];

    abstract public function dsn(): string;

    /** The server that takes the writes of a queue, as the others see it. */
    abstract public function masterOf(string $queue): Node;

    /** Whether everybody is there again and knows of everybody else. */
    abstract protected function isWhole(): bool;

    /** How long a master may be silent before another takes its place, where there is another: DOWN_AFTER_MS at first. */
    public function downAfter(int $ms): void
    {
    }

    /** @return list<Node> the servers that hold jobs */
    public function nodes(): array
    {
        return $this->nodes;
    }

    /** @return list<Node> */
    public function replicasOf(string $queue): array
    {
        $master = $this->masterOf($queue);
        $ports = array_column($this->replicas($master), 'port');

        return array_values(array_filter($this->nodes, static fn (Node $node) => in_array((string) $node->front, $ports, true)));
    }

    public function configure(string $name, string $value): void
    {
        foreach ($this->nodes as $node) {
            $node->ask('CONFIG', 'SET', $name, $value);
        }
    }

    public function untilWhole(float $seconds = 60.0): void
    {
        Wait::until(function (): bool {
            try {
                return $this->isWhole();
            } catch (RuntimeException) {
                return false;
            }
        }, $seconds, 'all servers are there and agree');
    }

    public function untilAnotherLeads(string $queue, Node $than, float $seconds = 30.0): Node
    {
        return Wait::until(function () use ($queue, $than): ?Node {
            try {
                $master = $this->masterOf($queue);
            } catch (Throwable) {
                return null;
            }

            return $master !== $than ? $master : null;
        }, $seconds, 'another server is the master');
    }

    /** Starts those that were killed, and lets those go on that were stopped. */
    public function heal(): void
    {
        foreach ($this->nodes as $node) {
            $node->thaw();
            $node->isAwake() || $node->start();
        }
    }

    public function remove(): void
    {
        foreach ($this->nodes as $node) {
            $node->remove();
        }
    }

    protected function nodeAt(string $port): Node
    {
        foreach ($this->nodes as $node) {
            if ((string) $node->front === $port) {
                return $node;
            }
        }
        throw new RuntimeException("nobody is at port $port");
    }

    /** @return list<array<string, string>> the replicas that a master has, with ip, port, state, offset and lag */
    protected function replicas(Node $master): array
    {
        $replicas = [];
        foreach ($master->info('replication') as $name => $value) {
            if (preg_match('/^slave\d+$/', $name)) {
                parse_str(strtr($value, ',', '&'), $replicas[]);
            }
        }

        return $replicas;
    }
}
