<?php

declare(strict_types=1);

namespace DelayQueue\Bench;

use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use RuntimeException;

/** A private server on a free port of the loopback interface, without persistence. It dies with this process at the latest. */
abstract class Server
{
    protected readonly Process $process;

    public readonly int $port;

    /** @param list<string> $under a command to run it under, such as valgrind's */
    final public function __construct(protected readonly string $directory, array $under = [])
    {
        $this->port = self::freePort();
        $this->process = Signals::hold(fn () => new Process([...$under, ...$this->command($this->port)]));
        Wait::until(function (): bool {
            if (!$this->process->isRunning()) {
                throw new RuntimeException(static::class . " does not start: {$this->process->errors()}");
            }

            return $this->isUp();
        }, 60, 'a private server that answers');
    }

    /** @param 'redis'|'beanstalkd' $kind */
    public static function start(string $kind, string $directory, array $under = []): self
    {
        return $kind === 'redis' ? new RedisServer($directory, $under) : new Beanstalkd($directory, $under);
    }

    public function endpoint(): Endpoint
    {
        return new Endpoint($this->process->pid, $this->port);
    }

    protected static function freePort(): int
    {
        $probe = stream_socket_server('tcp://127.0.0.1:0');
        $port = (int) substr(strrchr(stream_socket_get_name($probe, false), ':'), 1);
        fclose($probe);

        return $port;
    }

    /** Bytes it holds. */
    abstract public function memory(): int;

    /** Lets it end by itself, so that a tool it runs under can sum up. */
    public function stop(): string
    {
        $this->process->signal(SIGTERM);
        $this->process->exitCode(60);
        $errors = $this->process->errors();
        $this->process->kill();

        return $errors;
    }

    /** @return list<string> */
    abstract protected function command(int $port): array;

    abstract protected function socket(): string;

    private function isUp(): bool
    {
        $addresses = ["tcp://127.0.0.1:$this->port", ...($this->socket() === '' ? [] : ["unix://{$this->socket()}"])];
        foreach ($addresses as $address) {
            $stream = @stream_socket_client($address, timeout: 1.0);
            if ($stream === false) {
                return false;
            }
            fclose($stream);
        }

        return true;
    }
}
