<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue\Tests\Support\Wait;
use RuntimeException;

/** Three masters with a replica each. */
final class Cluster extends Setup
{
    private const SLOTS = ['0 5460', '5461 10922', '10923 16383'];

    /** @param list<string> $directives lines of redis.conf */
    public function __construct(array $directives = [])
    {
        $directives = [...self::DURABLE, 'cluster-enabled yes', 'cluster-node-timeout ' . self::DOWN_AFTER_MS, ...$directives];
        for ($n = 0; $n < 6; $n++) {
            $this->nodes[] = $node = new Node($directives);
            $node->ask('CLUSTER', 'SET-CONFIG-EPOCH', (string) ($n + 1));
            $n < 3 && $node->ask('CLUSTER', 'ADDSLOTSRANGE', ...explode(' ', self::SLOTS[$n]));
            $this->nodes[0]->ask('CLUSTER', 'MEET', '127.0.0.1', (string) $node->port);
        }
        $all = fn () => !array_filter($this->nodes, static fn (Node $node) => count(self::view($node)) !== 6);
        Wait::until($all, 20, 'the nodes know each other');
        foreach ([3, 4, 5] as $n) {
            $this->nodes[$n]->ask('CLUSTER', 'REPLICATE', $this->nodes[$n - 3]->ask('CLUSTER', 'MYID'));
        }
        $this->untilWhole();
    }

    public function dsn(): string
    {
        return 'redis+cluster://' . implode(',', array_map(static fn (Node $node) => $node->address(), $this->nodes));
    }

    public function downAfter(int $ms): void
    {
        $this->configure('cluster-node-timeout', (string) $ms);
    }

    public function slotOf(string $queue): int
    {
        return $this->anyone()->ask('CLUSTER', 'KEYSLOT', "dq:{{$queue}}:jobs");
    }

    public function masterOf(string $queue): Node
    {
        return $this->masterOfSlot($this->slotOf($queue));
    }

    public function masterOfSlot(int $slot): Node
    {
        $names = [];
        foreach ($this->nodes as $node) {
            foreach ($node->isAwake() ? self::view($node) : [] as $port => $facts) {
                foreach ($facts['slots'] as [$first, $last]) {
                    $first <= $slot && $slot <= $last && $names[] = $port;
                }
            }
        }
        if (count(array_unique($names)) !== 1) {
            throw new RuntimeException("the nodes do not agree on slot $slot");
        }

        return $this->nodeAt((string) $names[0]);
    }

    /** The nodes that are masters at this moment, as a node sees it. */
    public function masters(): array
    {
        $masters = array_filter(self::view($this->anyone()), static fn (array $facts) => $facts['slots'] !== []);

        return array_map(fn (int $port) => $this->nodeAt((string) $port), array_keys($masters));
    }

    /** A planned failover of the master of a queue: the replica asks for it. */
    public function failOver(string $queue): void
    {
        $this->replicasOf($queue)[0]->ask('CLUSTER', 'FAILOVER');
    }

    /** Moves a slot to another master as an operator does: key by key, while it is used. */
    public function moveSlot(int $slot, Node $to, ?callable $betweenKeys = null): void
    {
        $from = $this->masterOfSlot($slot);
        $to->ask('CLUSTER', 'SETSLOT', (string) $slot, 'IMPORTING', $from->ask('CLUSTER', 'MYID'));
        $from->ask('CLUSTER', 'SETSLOT', (string) $slot, 'MIGRATING', $to->ask('CLUSTER', 'MYID'));
        while ($keys = $from->ask('CLUSTER', 'GETKEYSINSLOT', (string) $slot, '1')) {
            $from->ask('MIGRATE', '127.0.0.1', (string) $to->port, $keys[0], '0', '5000');
            $betweenKeys === null || $betweenKeys($keys[0]);
        }
        // To the new one first: it must not stop to import before the old one has stopped to serve.
        foreach ([$to, $from, ...$this->masters()] as $node) {
            $node->ask('CLUSTER', 'SETSLOT', (string) $slot, 'NODE', $to->ask('CLUSTER', 'MYID'));
        }
    }

    protected function isWhole(): bool
    {
        foreach ($this->nodes as $node) {
            preg_match('/cluster_state:(\w+)/', $node->ask('CLUSTER', 'INFO'), $state);
            $view = self::view($node);
            $masters = array_filter($view, static fn (array $facts) => $facts['slots'] !== []);
            $suspects = array_filter($view, static fn (array $facts) => str_contains($facts['flags'], 'fail'));
            if ($state[1] !== 'ok' || count($masters) !== 3 || $suspects !== []) {
                return false;
            }
        }
        foreach ($this->masters() as $master) {
            $online = array_filter($this->replicas($master), static fn (array $replica) => $replica['state'] === 'online');
            if (count($online) !== 1) {
                return false;
            }
        }

        return true;
    }

    private function anyone(): Node
    {
        foreach ($this->nodes as $node) {
            if ($node->isAwake()) {
                return $node;
            }
        }
        throw new RuntimeException('every node is down');
    }

    /** @return array<int, array{flags: string, slots: list<array{int, int}>}> the nodes as one of them sees them, by port */
    private static function view(Node $node): array
    {
        $view = [];
        foreach (explode("\n", trim($node->ask('CLUSTER', 'NODES'))) as $line) {
            $words = explode(' ', $line);
            preg_match('/:(\d+)@/', $words[1], $port);
            $slots = array_map(static function (string $range): array {
                [$first, $last] = explode('-', "$range-$range");

                return [(int) $first, (int) $last];
            }, preg_grep('/^\d/', array_slice($words, 8)));
            $view[(int) $port[1]] = ['flags' => $words[2], 'slots' => array_values($slots)];
        }

        return $view;
    }
}
