<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use RuntimeException;

/** A PHP process with the extension under test. It ends with the object, if not before. */
final class PhpProcess
{
    /** Seconds to wait for what a process should do at once. */
    private const PATIENCE = 20.0;

    public readonly int $pid;
    private string $output = '';

    /** @var resource|null */
    private $process;

    /** @var resource */
    private $pipe;

    /**
     * @param list<string> $arguments of the PHP command line
     * @param array<string, string> $environment added to this process's own
     */
    public function __construct(array $arguments, array $environment = [])
    {
        $streams = [['file', '/dev/null', 'r'], ['pipe', 'w'], ['redirect', 1]];
        $process = proc_open([PHP_BINARY, ...$arguments], $streams, $pipes, null, $environment + getenv());
        if ($process === false) {
            throw new RuntimeException('cannot start ' . implode(' ', $arguments));
        }
        $this->process = $process;
        $this->pipe = $pipes[1];
        stream_set_blocking($this->pipe, false);
        $this->pid = proc_get_status($process)['pid'];
    }

    public function __destruct()
    {
        if ($this->process !== null) {
            proc_terminate($this->process, SIGKILL);
            proc_close($this->process);
        }
    }

    public function signal(int $signal): void
    {
        if ($this->process !== null) {
            proc_terminate($this->process, $signal);
        }
    }

    /** Waits until the output has the words, and returns all of it so far. */
    public function waitFor(string $words): string
    {
        $this->wait(fn (): bool => str_contains($this->read(), $words), "to print '$words'");

        return $this->output;
    }

    /**
     * Waits until the process has ended.
     *
     * @return array{int, string} exit code (-1: by a signal), output
     */
    public function end(): array
    {
        $status = ['running' => true, 'exitcode' => -1];
        $this->wait(function () use (&$status): bool {
            $this->read();
            $status = proc_get_status($this->process);

            return !$status['running'];
        }, 'to end');
        $output = $this->read();
        proc_close($this->process);
        $this->process = null;

        return [$status['exitcode'], $output];
    }

    private function read(): string
    {
        return $this->output .= stream_get_contents($this->pipe);
    }

    private function wait(callable $done, string $what): void
    {
        for ($deadline = microtime(true) + self::PATIENCE; !$done(); usleep(5_000)) {
            if (microtime(true) > $deadline) {
                throw new RuntimeException("waited in vain for process $this->pid $what; it printed:\n$this->output");
            }
        }
    }
}
