<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue\Tests\Support\Wait;

/** A master of a cluster without replicas. */
final class ClusterNode extends RedisServer
{
    private const SLOTS = 16384;

    private int $busPort;

    /** @return list<self> so many nodes that share the slots evenly */
    public static function cluster(Session $session, int $count): array
    {
        $nodes = array_map(static fn () => new self($session->directory()), range(1, $count));
        foreach ($nodes as $number => $node) {
            $from = intdiv(self::SLOTS * $number, $count);
            $node->ask('CLUSTER', 'ADDSLOTSRANGE', (string) $from, (string) (intdiv(self::SLOTS * ($number + 1), $count) - 1));
            $node->ask('CLUSTER', 'SET-CONFIG-EPOCH', (string) ($number + 1));
            $nodes[0]->ask('CLUSTER', 'MEET', '127.0.0.1', (string) $node->port, (string) $node->busPort);
        }
        $isReady = static fn (self $node): bool => str_contains($node->ask('CLUSTER', 'INFO'), 'cluster_state:ok')
            && str_contains($node->ask('CLUSTER', 'INFO'), "cluster_known_nodes:$count");
        Wait::until(static fn () => array_filter($nodes, $isReady) === $nodes, 30, 'a cluster that serves all slots');

        return $nodes;
    }

    protected function command(int $port): array
    {
        $this->busPort = self::freePort();

        return [
            ...parent::command($port), '--cluster-enabled', 'yes', '--cluster-port', (string) $this->busPort, '--cluster-node-timeout', '15000',
        ];
    }
}
