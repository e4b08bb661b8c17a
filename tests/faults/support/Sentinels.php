<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use RuntimeException;

/** A master with two replicas, and three Sentinels; one of each is on a box of its own, where there is a network. */
final class Sentinels extends Setup
{
    private const SERVICE = 'orders-redis';

    /** @var list<Node> */
    private array $sentinels = [];

    /** @param list<string> $directives lines of redis.conf for the servers */
    public function __construct(array $directives = [], int $replicas = 2, ?Network $network = null)
    {
        $directives = [...self::DURABLE, ...$directives];
        $this->nodes[] = $master = new Node($directives, network: $network, box: 1);
        for ($n = 0; $n < $replicas; $n++) {
            $this->nodes[] = new Node([...$directives, "replicaof 127.0.0.1 $master->front"], network: $network, box: $n + 2);
        }
        for ($n = 0; $n < 3; $n++) {
            $this->sentinels[] = new Node([
                'sentinel monitor ' . self::SERVICE . " 127.0.0.1 $master->front 2",
                'sentinel down-after-milliseconds ' . self::SERVICE . ' ' . self::DOWN_AFTER_MS,
                'sentinel failover-timeout ' . self::SERVICE . ' 5000',
                'sentinel parallel-syncs ' . self::SERVICE . ' 2',
            ], isSentinel: true, network: $network, box: $n + 1);
        }
        $this->untilWhole();
    }

    public function dsn(): string
    {
        $hosts = implode(',', array_map(static fn (Node $sentinel) => $sentinel->address(), $this->sentinels));

        return "redis+sentinel://$hosts/" . self::SERVICE;
    }

    public function masterOf(string $queue): Node
    {
        $names = [];
        foreach ($this->sentinels as $sentinel) {
            $sentinel->isAwake() && $names[] = $sentinel->ask('SENTINEL', 'GET-MASTER-ADDR-BY-NAME', self::SERVICE)[1];
        }
        if (count(array_unique($names)) !== 1) {
            throw new RuntimeException('the Sentinels do not agree');
        }

        return $this->nodeAt($names[0]);
    }

    /** @return list<Node> */
    public function sentinels(): array
    {
        return $this->sentinels;
    }

    public function downAfter(int $ms): void
    {
        foreach ($this->sentinels as $sentinel) {
            $sentinel->ask('SENTINEL', 'SET', self::SERVICE, 'down-after-milliseconds', (string) $ms);
        }
    }

    /** A planned failover, as an operator asks for it. */
    public function failOver(): void
    {
        $this->sentinels[0]->ask('SENTINEL', 'FAILOVER', self::SERVICE);
    }

    public function heal(): void
    {
        parent::heal();
        foreach ($this->sentinels as $sentinel) {
            $sentinel->thaw();
            $sentinel->isAwake() || $sentinel->start();
        }
    }

    public function remove(): void
    {
        foreach ($this->sentinels as $sentinel) {
            $sentinel->remove();
        }
        parent::remove();
    }

    protected function isWhole(): bool
    {
        $master = $this->masterOf('');
        $online = array_filter($this->replicas($master), static fn (array $replica) => $replica['state'] === 'online');
        foreach ($this->sentinels as $sentinel) {
            $seen = $sentinel->table('SENTINEL', 'MASTER', self::SERVICE);
            $healthy = 0;
            foreach ($sentinel->ask('SENTINEL', 'REPLICAS', self::SERVICE) as $replica) {
                $facts = array_column(array_chunk($replica, 2), 1, 0);
                $healthy += $facts['flags'] === 'slave' && $facts['master-link-status'] === 'ok' ? 1 : 0;
            }
            if ($seen['flags'] !== 'master' || $seen['num-other-sentinels'] !== '2' || $healthy !== count($this->nodes) - 1) {
                return false;
            }
        }

        return count($online) === count($this->nodes) - 1 && $master->info('replication')['role'] === 'master';
    }
}
