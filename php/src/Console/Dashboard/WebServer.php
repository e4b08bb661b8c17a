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

    /** Becomes the server, as the first process of a group of its own. */
    private const LAUNCHER = 'posix_setpgid(0, 0); pcntl_exec(PHP_BINARY, array_slice($argv, 1)); exit(1);';

    /** The line of each of its processes at its start. It would come before the address of the pages. */
    private const GREETING = '/^(\[\d+] )?\[[^]]+] PHP \S+ Development Server \(.+\) started$/D';

    private static bool $isToEnd = false;

    private readonly int $pid;

    /** The beginning of a line of its standard error. */
    private string $heard = '';

    /**
     * @param resource $process
     * @param resource $errors its standard error
     */
    private function __construct(private $process, private $errors)
    {
        $this->pid = proc_get_status($process)['pid'];
        stream_set_blocking($errors, false);
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
        $environment += ['PHP_CLI_SERVER_WORKERS' => self::PROCESSES] + getenv();
        $command = [PHP_BINARY, ...Relaunch::settings(), '-r', self::LAUNCHER, '--', ...$arguments];
        $process = proc_open($command, [STDIN, STDOUT, ['pipe', 'w']], $pipes, null, $environment);
        if ($process === false) {
            throw new NothingDone('cannot run ' . PHP_BINARY);
        }
        $server = new self($process, $pipes[2]);
        do {
            $client = @stream_socket_client("tcp://$listen", $code, $why, 1.0);
        } while ($client === false && $server->isRunning() && !self::$isToEnd && $server->passOn(0.02) === null);

        return $server;
    }

    /** @return bool false: it has ended by itself; true: a signal to this process has ended it */
    public function wait(): bool
    {
        while (!self::$isToEnd && $this->isRunning()) {
            $this->passOn(0.1);
        }
        $this->end();

        return self::$isToEnd;
    }

    /** Its processes finish their requests, and the first one waits for the others. Then nothing is left of them. */
    private function end(): void
    {
        $this->signal(SIGINT);
        for ($until = microtime(true) + self::PATIENCE; $this->isRunning() && microtime(true) < $until;) {
            $this->passOn(0.02);
        }
        $this->signal(SIGKILL);
        $this->passOn(0);
    }

    /** Signals the group, or the launcher, which has none yet. */
    private function signal(int $signal): void
    {
        posix_kill(-$this->pid, $signal) || posix_kill($this->pid, $signal);
    }

    /** Passes on what it says to standard error, or waits for it for so many seconds. */
    private function passOn(float $seconds): void
    {
        [$read, $none] = [[$this->errors], []];
        if (feof($this->errors) || @stream_select($read, $none, $none, 0, (int) ($seconds * 1e6)) !== 1) {
            feof($this->errors) && usleep((int) ($seconds * 1e6));

            return;
        }
        $lines = explode("\n", $this->heard . stream_get_contents($this->errors));
        $this->heard = array_pop($lines);
        foreach ($lines as $line) {
            preg_match(self::GREETING, $line) === 1 || @fwrite(STDERR, "$line\n");
        }
    }

    private function isRunning(): bool
    {
        return proc_get_status($this->process)['running'];
    }
}
