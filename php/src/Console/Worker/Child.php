<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use RuntimeException;

/** A worker in a process of its own, as its parent sees it. */
final class Child
{
    private const DESCRIPTOR = 3;

    public readonly int $pid;

    /** By hrtime(), in seconds. */
    public readonly float $startedAt;

    private bool $isReady = false;

    private bool $isEmpty = false;

    private bool $wasStopped = false;

    private string $heard = '';

    /** How it ended, once it has. */
    private ?string $end = null;

    private ?int $exitCode = null;

    /** @var resource */
    private $process;

    /** @var resource the only copy of this end: the kernel closes it with the parent */
    public readonly mixed $socket;

    /**
     * @param list<string> $command
     * @param bool $isHeld it is to take no jobs before SIGCONT
     */
    public function __construct(array $command, public readonly int $slot, public readonly int $generation, public readonly bool $isHeld)
    {
        $process = proc_open(
            $command,
            [['file', '/dev/null', 'r'], self::DESCRIPTOR => ['socket']],
            $pipes,
            null,
            [Lifeline::VARIABLE => self::DESCRIPTOR . ($isHeld ? Lifeline::HELD : '')] + getenv(),
        );
        if ($process === false) {
            throw new RuntimeException("cannot start $command[0]");
        }
        $this->process = $process;
        $this->socket = $pipes[self::DESCRIPTOR];
        stream_set_blocking($this->socket, false);
        $this->pid = proc_get_status($process)['pid'];
        $this->startedAt = hrtime(true) / 1e9;
    }

    /** It has loaded its handler and heeds signals. */
    public function isReady(): bool
    {
        $this->listen();

        return $this->isReady;
    }

    /** It ended because nothing was due. */
    public function foundNothing(): bool
    {
        $this->listen();

        return $this->isEmpty;
    }

    /** It ended because an operator stopped it. */
    public function wasStopped(): bool
    {
        $this->listen();

        return $this->wasStopped;
    }

    public function isRunning(): bool
    {
        if ($this->end === null) {
            $status = proc_get_status($this->process);
            if ($status['running']) {
                return true;
            }
            // PHP tells the exit code once.
            $this->exitCode = $status['signaled'] ? null : $status['exitcode'];
            $this->end = $status['signaled'] ? "was killed by signal {$status['termsig']}" : "ended with exit code {$status['exitcode']}";
        }

        return false;
    }

    /** In words; empty while it runs. */
    public function end(): string
    {
        return $this->end ?? '';
    }

    /** Null while it runs, and when a signal ended it. */
    public function exitCode(): ?int
    {
        return $this->exitCode;
    }

    /** Seconds since it was started. */
    public function age(): float
    {
        return hrtime(true) / 1e9 - $this->startedAt;
    }

    public function signal(int $signal): void
    {
        if ($this->isRunning()) {
            proc_terminate($this->process, $signal);
        }
    }

    private function listen(): void
    {
        $this->heard .= (string) @fread($this->socket, 1024);
        $words = explode("\n", $this->heard);
        $this->isReady = $this->isReady || in_array(Lifeline::READY, $words, true);
        $this->isEmpty = $this->isEmpty || in_array(Lifeline::EMPTY, $words, true);
        $this->wasStopped = $this->wasStopped || in_array(Lifeline::STOPPED, $words, true);
    }
}
