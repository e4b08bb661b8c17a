<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue\Tests\Support\Folder;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\RedisClient;
use DelayQueue\Tests\Support\Wait;
use RuntimeException;

/** A redis-server, or a Sentinel, on a port of its own. It keeps its configuration in a file, which Sentinels rewrite. */
final class Node
{
    /** Where it listens. */
    public readonly int $port;

    /** Where others reach it. */
    public readonly int $front;

    public readonly Folder $folder;

    private ?Process $process = null;

    private ?RedisClient $client = null;

    private bool $isFrozen = false;

    /**
     * @param list<string> $directives lines of redis.conf
     * @param int $box the host that it is on, where there is a network
     * @param list<string> $launcher the command that starts the server, with its command line as further arguments
     */
    public function __construct(
        array $directives = [],
        private readonly bool $isSentinel = false,
        private readonly array $launcher = [],
        ?Network $network = null,
        int $box = 0,
    ) {
        $this->port = Ports::free();
        $this->front = $network?->link($this->port, $box) ?? $this->port;
        if ($network !== null) {
            $who = $isSentinel ? 'sentinel' : 'replica';
            array_push($directives, Network::source($box), "$who-announce-ip 127.0.0.1", "$who-announce-port $this->front");
            $isSentinel && $directives = str_replace('sentinel-announce', 'sentinel announce', $directives);
        }
        $this->folder = new Folder();
        $path = $this->folder->path;
        $lines = ["port $this->port", 'bind 127.0.0.1', "unixsocket $path/redis.sock", "dir $path", "logfile $path/redis.log"];
        if (!$isSentinel) {
            array_push($lines, 'save ""', 'repl-diskless-sync-delay 0', 'repl-ping-replica-period 1');
        }
        file_put_contents("$path/redis.conf", implode("\n", [...$lines, ...$directives]) . "\n");
        $this->start();
    }

    public function start(): void
    {
        $path = $this->folder->path;
        @unlink("$path/redis.sock");
        $command = [...$this->launcher, getenv('REDIS_SERVER') ?: 'redis-server', "$path/redis.conf", ...$this->isSentinel ? ['--sentinel'] : []];
        $this->process = new Process($command);
        Wait::until($this->answers(...), 20, "an answer of the server at port $this->port");
    }

    public function address(): string
    {
        return "127.0.0.1:$this->front";
    }

    public function dsn(): string
    {
        return "redis://{$this->address()}";
    }

    public function pid(): int
    {
        return $this->process?->pid ?? throw new RuntimeException('this server is not running');
    }

    /** As a crash: nothing is saved, nobody is told. */
    public function kill(): void
    {
        $this->client = null;
        $this->process?->kill();
        $this->process = null;
        $this->isFrozen = false;
    }

    /** It keeps its connections and answers nobody. */
    public function freeze(): void
    {
        $this->isFrozen = true;
        $this->process?->signal(SIGSTOP);
    }

    public function thaw(): void
    {
        $this->isFrozen = false;
        $this->process?->signal(SIGCONT);
    }

    public function isAwake(): bool
    {
        return !$this->isFrozen && $this->process?->isRunning();
    }

    public function remove(): void
    {
        $this->kill();
        $this->folder->remove();
    }

    /** One command, its answer. Integers and bulk strings; lists of them; errors are thrown. */
    public function ask(string ...$command): mixed
    {
        try {
            $this->client ??= new RedisClient($this->folder->path . '/redis.sock');

            return $this->client->ask(...$command);
        } catch (RuntimeException $e) {
            $this->client = null;
            throw $e;
        }
    }

    /** @return array<string, string> a section of INFO */
    public function info(string $section): array
    {
        preg_match_all('/^([^:#\r\n]+):([^\r\n]*)/m', $this->ask('INFO', $section), $found);

        return array_combine($found[1], $found[2]);
    }

    /** The answer of SENTINEL MASTER and its like: name, value, name, value … */
    public function table(string ...$command): array
    {
        $table = [];
        foreach (array_chunk($this->ask(...$command), 2) as [$name, $value]) {
            $table[$name] = $value;
        }

        return $table;
    }

    private function answers(): bool
    {
        if (!$this->process->isRunning()) {
            throw new RuntimeException('redis-server ended: ' . @file_get_contents($this->folder->path . '/redis.log'));
        }
        try {
            return $this->ask('PING') === 'PONG';
        } catch (RuntimeException) {
            return false;
        }
    }
}
