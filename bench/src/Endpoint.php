<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** Where a peer finds its server. Goes to child processes as JSON. */
final class Endpoint
{
    /**
     * @param int $pid of the server
     * @param bool $persistent the connection outlives a web request
     * @param string|null $cluster the nodes of a cluster, host:port each, for peers that know one
     * @param string|null $dsn another way to it, or to a store in the process of the peer, for peers that know DSNs
     */
    public function __construct(
        public readonly int $pid,
        public readonly int $port,
        public readonly bool $persistent = true,
        public readonly string $host = '127.0.0.1',
        public readonly string $queue = 'bench',
        public readonly ?string $cluster = null,
        public readonly int $partitions = 1,
        public readonly ?string $dsn = null,
    ) {
    }

    /** This server behind another port, such as a proxy's. */
    public function through(int $port): self
    {
        return new self($this->pid, $port, $this->persistent, $this->host, $this->queue);
    }
}
