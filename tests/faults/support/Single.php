<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

/** One server. */
final class Single extends Setup
{
    /**
     * @param list<string> $directives lines of redis.conf
     * @param list<string> $launcher see Node
     */
    public function __construct(array $directives = self::DURABLE, array $launcher = [], ?Network $network = null)
    {
        $this->nodes = [new Node($directives, launcher: $launcher, network: $network, box: 1)];
    }

    public function node(): Node
    {
        return $this->nodes[0];
    }

    public function dsn(): string
    {
        return $this->nodes[0]->dsn();
    }

    public function masterOf(string $queue): Node
    {
        return $this->nodes[0];
    }

    protected function isWhole(): bool
    {
        return $this->nodes[0]->ask('PING') === 'PONG';
    }
}
