<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

/** Where a peer finds its server, and how it is to use it. Goes to child processes as JSON. */
final class Endpoint
{
    /**
     * @param int $pid of the server
     * @param string $socket the Unix socket; empty where there is none
     * @param int|null $pollMs how often to look while idle; null: the peer's default
     */
    public function __construct(
        public readonly int $pid,
        public readonly int $port,
        public readonly string $socket = '',
        public readonly bool $unix = false,
        public readonly bool $persistent = true,
        public readonly ?int $pollMs = null,
        public readonly string $host = '127.0.0.1',
        public readonly string $queue = 'bench',
    ) {
    }

    /** @param mixed ...$changes property: value */
    public function with(mixed ...$changes): self
    {
        return new self(...$changes + get_object_vars($this));
    }
}
