<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

/** Stands between a client and Redis, and can keep requests or replies back. */
final class Relay
{
    private Process $process;

    private string $socket;

    public function __construct(RedisServer $redis)
    {
        $this->socket = $redis->folder->path . '/relay-' . bin2hex(random_bytes(3)) . '.sock';
        $this->process = Php::program('relay.php', $this->socket, $redis->socket);
        $this->process->hear('listening');
    }

    public function dsn(): string
    {
        return "redis+unix://$this->socket?db=0";
    }

    /** From now on no request gets to Redis. */
    public function holdRequests(): void
    {
        $this->tell('hold requests');
    }

    /** From now on Redis does what it is asked, and no reply gets back. */
    public function holdReplies(): void
    {
        $this->tell('hold replies');
    }

    /** Hands on what was held, and everything after. */
    public function pass(): void
    {
        $this->tell('pass');
    }

    /** Closes every connection, and drops what was held; new connections are welcome. */
    public function cut(): void
    {
        $this->tell('cut');
    }

    /** Returns once something is being held. */
    public function untilHolding(): void
    {
        $this->process->hear('holding');
    }

    public function stop(): void
    {
        $this->process->kill();
    }

    private function tell(string $command): void
    {
        $this->process->say($command);
        $this->process->hear("ok $command");
    }
}
