<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Support;

use RuntimeException;

/** A private redis-server on a Unix socket, which can be killed and started again over the same files. */
final class RedisServer
{
    public readonly string $socket;

    public readonly Folder $folder;

    private ?Process $process = null;

    private ?RedisClient $client = null;

    /** @param array<string, string> $options as in redis.conf; they go before the defaults */
    public function __construct(private readonly array $options = [])
    {
        $this->folder = new Folder();
        $this->socket = $this->folder->path . '/redis.sock';
        $this->start();
    }

    public function dsn(): string
    {
        return "redis+unix://$this->socket?db=0";
    }

    public function pid(): int
    {
        return $this->process->pid ?? throw new RuntimeException('the private redis-server is not running');
    }

    public function start(): void
    {
        $defaults = [
            'port' => '0',
            'unixsocket' => $this->socket,
            'dir' => $this->folder->path,
            'save' => '',
            'appendonly' => 'no',
            'logfile' => $this->folder->path . '/redis.log',
        ];
        $command = [getenv('REDIS_SERVER') ?: 'redis-server'];
        foreach ($this->options + $defaults as $name => $value) {
            array_push($command, "--$name", $value);
        }
        @unlink($this->socket);
        $this->process = new Process($command);
        Wait::until(fn () => $this->isUp(), 10, 'an answer of the private redis-server');
    }

    /** As a crash: nothing is saved, nobody is told. */
    public function kill(): void
    {
        $this->client = null;
        $this->process?->kill();
        $this->process = null;
    }

    public function signal(int $signal): void
    {
        $this->process?->signal($signal);
    }

    public function remove(): void
    {
        $this->kill();
        $this->folder->remove();
    }

    /** One command, its answer. Integers and bulk strings; lists of them; errors are thrown. */
    public function ask(string ...$command): mixed
    {
        $this->client ??= new RedisClient($this->socket);

        return $this->client->ask(...$command);
    }

    /** @return array<string, string> a section of INFO */
    public function info(string $section): array
    {
        $info = [];
        foreach (explode("\r\n", $this->ask('INFO', $section)) as $line) {
            if (str_contains($line, ':')) {
                [$name, $value] = explode(':', $line, 2);
                $info[$name] = $value;
            }
        }

        return $info;
    }

    /** How often a command was called: 'evalsha', 'script|flush'. */
    public function calls(string $command): int
    {
        preg_match('/calls=(\d+)/', $this->info('commandstats')["cmdstat_$command"] ?? '', $found);

        return (int) ($found[1] ?? 0);
    }

    /** @return list<int> ids of the connections that a process of the extension has open */
    public function clients(int $pid): array
    {
        preg_match_all("/^id=(\\d+) .*\\bname=delayqueue:$pid\\b/m", $this->ask('CLIENT', 'LIST'), $found);

        return array_map(intval(...), $found[1]);
    }

    /** How many consumers sleep until a job of this queue comes. */
    public function waiters(string $queue): int
    {
        return $this->ask('ZCARD', "dq:{{$queue}}:waiters");
    }

    private function isUp(): bool
    {
        if (!$this->process->isRunning()) {
            throw new RuntimeException('redis-server ended: ' . @file_get_contents($this->folder->path . '/redis.log'));
        }
        try {
            return $this->ask('PING') === 'PONG';
        } catch (RuntimeException) {
            $this->client = null;

            return false;
        }
    }
}
