<?php

declare(strict_types=1);

namespace DelayQueue\Console\Dashboard;

use DelayQueue\Console\ExitCode;
use DelayQueue\Console\NothingDone;
use DelayQueue\Console\Worker\Relaunch;

/** PHP's own web server: several processes in a group of their own, which end together. */
final class WebServer
{
    private const PROCESSES = '4';

    /** Seconds for requests to end in. */
    private const PATIENCE = 3.0;

    private static bool $isToEnd = false;

    private function __construct(private readonly int $pid)
    {
    }

    /**
     * Returns when it listens.
     *
     * @param string $page is run for each request
     * @param array<string, string> $environment added to that of this process
     *
     * @throws NothingDone when it cannot
     */
    public static function start(string $listen, string $page, #[\SensitiveParameter] array $environment): self
    {
        $socket = @stream_socket_server("tcp://$listen", $code, $why);
        if ($socket === false) {
            throw new NothingDone("cannot listen on $listen: $why");
        }
        fclose($socket);
        pcntl_async_signals(true);
        foreach ([SIGTERM, SIGINT, SIGQUIT, SIGHUP] as $signal) {
            pcntl_signal($signal, static function (): void {
                self::$isToEnd = true;
            }, false);
        }
        $arguments = [...Relaunch::settings(), '-d', 'expose_php=0', '-q', '-S', $listen, $page];
        $pid = pcntl_fork();
        if ($pid === 0) {
            posix_setpgid(0, 0);
            pcntl_exec(PHP_BINARY, $arguments, $environment + ['PHP_CLI_SERVER_WORKERS' => self::PROCESSES] + getenv());
            exit(ExitCode::FAILED);
        }
        // On both sides: whichever comes first, a signal to the group finds it.
        posix_setpgid($pid, $pid);
        $server = new self($pid);
        do {
            $client = @stream_socket_client("tcp://$listen", $code, $why, 1.0);
        } while ($client === false && $server->isRunning() && !self::$isToEnd && usleep(20_000) === null);

        return $server;
    }

    /** @return bool false: it has ended by itself; true: a signal to this process has ended it */
    public function wait(): bool
    {
        while (!self::$isToEnd && $this->isRunning()) {
            usleep(100_000);
        }
        $this->end();

        return self::$isToEnd;
    }

    /** Its processes finish their requests, and the first one waits for the others. Then nothing is left of them. */
    private function end(): void
    {
        posix_kill(-$this->pid, SIGINT);
        for ($until = microtime(true) + self::PATIENCE; $this->isRunning() && microtime(true) < $until;) {
            usleep(20_000);
        }
        posix_kill(-$this->pid, SIGKILL);
    }

    private function isRunning(): bool
    {
        return pcntl_waitpid($this->pid, $status, WNOHANG) === 0;
    }
}
