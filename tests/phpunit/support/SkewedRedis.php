<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use DelayQueue\Testing\RedisServer as PrivateServer;
use DelayQueue\Tests\Faults\Support\Shim;

/** A private redis-server whose clock differs from this host's. */
final class SkewedRedis
{
    private readonly Folder $folder;

    private readonly PrivateServer $server;

    public function __construct(int $seconds)
    {
        require_once dirname(__DIR__, 2) . '/faults/support/Shim.php';
        $this->folder = new Folder();
        $shim = new Shim('offsetclock', $this->folder);
        $shim->set($seconds * 1_000_000);
        $program = "{$this->folder->path}/skewed-redis";
        $command = implode(' ', [...$shim->launcher(), getenv('REDIS_SERVER') ?: 'redis-server']);
        file_put_contents($program, "#!/bin/sh\nexec $command \"\$@\"\n");
        chmod($program, 0o700);
        $this->server = PrivateServer::start($program);
    }

    public function dsn(): string
    {
        return $this->server->dsn();
    }

    public function stop(): void
    {
        $this->server->stop();
        $this->folder->remove();
    }
}
