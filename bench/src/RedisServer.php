<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue\Tests\Support\RedisClient;
use RuntimeException;

class RedisServer extends Server
{
    private ?RedisClient $client = null;

    public static function binary(): string
    {
        return getenv('REDIS_SERVER') ?: 'redis-server';
    }

    /** One command over the Unix socket. */
    public function ask(string ...$command): mixed
    {
        $this->client ??= new RedisClient($this->socket());

        return $this->client->ask(...$command);
    }

    /** How long the server answers nobody at this moment, in ms. */
    public function pingMs(): float
    {
        $started = hrtime(true);
        while (true) {
            try {
                $this->ask('PING');

                return (hrtime(true) - $started) / 1e6;
            } catch (RuntimeException $error) {
                // A script that runs for seconds makes it say so; that is no answer.
                if (!str_contains($error->getMessage(), 'BUSY')) {
                    throw $error;
                }
                usleep(1000);
            }
        }
    }

    /** Commands so far, those that scripts give included, this question not. */
    public function commands(): int
    {
        preg_match_all('/^cmdstat_(?!info:)[^:]+:calls=(\d+)/m', $this->ask('INFO', 'commandstats'), $found);

        return (int) array_sum($found[1]);
    }

    /** Over the Unix socket. */
    public function nearby(): Endpoint
    {
        return new Endpoint($this->process->pid, $this->port, dsn: "redis+unix://{$this->socket()}?db=0");
    }

    /** Where it works. */
    public function directory(): string
    {
        return $this->directory;
    }

    public function memory(): int
    {
        return self::value($this->ask('INFO', 'memory'), 'used_memory');
    }

    protected function command(int $port): array
    {
        return [
            self::binary(), '--bind', '127.0.0.1', '--port', (string) $port, '--unixsocket', $this->socket(),
            '--dir', $this->directory, '--save', '', '--appendonly', 'no', '--logfile', '/dev/null', '--hz', '10',
        ];
    }

    protected function socket(): string
    {
        return $this->directory . '/redis.sock';
    }

    private static function value(string $info, string $name): int
    {
        preg_match("/^$name:(\\d+)/m", $info, $found);

        return (int) $found[1];
    }
}
