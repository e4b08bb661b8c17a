<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use RuntimeException;

/**
 * A private redis-server on a Unix socket in a temporary folder, empty at the start and gone at the end.
 *
 * It ends with {@see stop()}, and also when the process that started it ends, in whatever way: its supervisor reads
 * a pipe from that process and stops the server when the pipe closes.
 */
final class RedisServer
{
    /** Starts the server, stops it by its process id once standard input ends or says a line, and removes folder $0. */
    private const SUPERVISOR = <<<'SH'
        "$@" & server=$!
        trap "" INT TERM
        read -r _
        kill "$server"
        wait "$server"
        rm -rf "$0"
        SH;

    private static ?self $shared = null;

    /** @var resource|null the supervisor */
    private $process;

    /** @var resource|null a line, or its end, stops the server */
    private $lifeline;

    private function __construct(private readonly string $directory, private readonly int $owner)
    {
    }

    /** The server of this process, started on first use and stopped at its end. A forked child gets its own. */
    public static function shared(): self
    {
        if (self::$shared === null || self::$shared->owner !== getmypid()) {
            $server = self::$shared = self::start();
            register_shutdown_function(static fn () => $server->stop());
        }

        return self::$shared;
    }

    /**
     * @param string|null $binary null: what the environment variable REDIS_SERVER says, else redis-server
     * @param float $patience seconds it may take to answer
     *
     * @throws RuntimeException if there is none, or if it does not answer in time; with what it logged
     */
    public static function start(?string $binary = null, float $patience = 10.0): self
    {
        $binary ??= getenv('REDIS_SERVER') ?: 'redis-server';
        if (shell_exec('command -v ' . escapeshellarg($binary)) === null) {
            throw new RuntimeException("no $binary here: install Redis, or set REDIS_SERVER to the path of its server");
        }
        // The path of a socket has room for 107 bytes: not every TMPDIR leaves enough of them.
        $base = strlen(sys_get_temp_dir()) <= 70 ? sys_get_temp_dir() : '/tmp';
        $directory = "$base/delayqueue-" . bin2hex(random_bytes(6));
        if (!mkdir($directory, 0o700)) {
            throw new RuntimeException("cannot make the folder $directory for a private redis-server");
        }
        $server = new self($directory, (int) getmypid());
        $server->launch($binary, $patience);

        return $server;
    }

    /** The DSN for new DelayQueue(). */
    public function dsn(): string
    {
        return 'redis+unix://' . $this->socket() . '?db=0';
    }

    /**
     * Removes everything, scripts excepted. Clients connect anew, also those that wait: each remembers for a minute
     * that it has entered a queue into the index.
     */
    public function flush(): void
    {
        $answer = $this->ask('FLUSHALL');
        if ($answer !== '+OK') {
            throw new RuntimeException("the private redis-server did not flush: $answer");
        }
        foreach (['normal', 'pubsub'] as $type) {
            $this->ask("CLIENT KILL TYPE $type");
        }
    }

    /** Stops the server and removes its folder. In a forked child it does nothing: the server is the parent's. */
    public function stop(): void
    {
        if ($this->process === null || $this->owner !== getmypid()) {
            return;
        }
        // A line, because forked children may still hold the pipe open.
        fwrite($this->lifeline, "stop\n");
        fclose($this->lifeline);
        proc_close($this->process);
        $this->process = $this->lifeline = null;
    }

    private function socket(): string
    {
        return $this->directory . '/redis.sock';
    }

    private function launch(string $binary, float $patience): void
    {
        $log = $this->directory . '/redis.log';
        $command = [
            '/bin/sh', '-c', self::SUPERVISOR, $this->directory,
            $binary, '--port', '0', '--unixsocket', $this->socket(), '--dir', $this->directory,
            '--save', '', '--appendonly', 'no', '--maxmemory-policy', 'noeviction',
        ];
        $output = ['file', $log, 'a'];
        $process = proc_open($command, [['pipe', 'r'], $output, $output], $pipes);
        if ($process === false) {
            throw new RuntimeException('cannot start /bin/sh');
        }
        $this->process = $process;
        $this->lifeline = $pipes[0];

        $deadline = microtime(true) + $patience;
        while ($this->ask('PING') !== '+PONG') {
            if (microtime(true) > $deadline) {
                $logged = (string) file_get_contents($log);
                $this->stop();
                throw new RuntimeException("$binary does not answer. It logged:\n$logged");
            }
            usleep(10_000);
        }
    }

    /** The first line of the answer to an inline command; empty while nobody listens. */
    private function ask(string $command): string
    {
        $stream = @stream_socket_client('unix://' . $this->socket(), $code, $message, 1.0);
        if ($stream === false) {
            return '';
        }
        fwrite($stream, "$command\r\n");
        $answer = rtrim((string) fgets($stream));
        fclose($stream);

        return $answer;
    }
}
