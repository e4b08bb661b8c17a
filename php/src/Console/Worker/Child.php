<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\ExitCode;
use RuntimeException;

/** A worker in a process of its own, or a process beside the workers, as its parent sees it. */
final class Child
{
    private const DESCRIPTOR = 3;

    /** Seconds after which a child is killed that was told to stop before it was ready, or is no worker. It has no job. */
    private const STUCK_AFTER = 10.0;

    /** Seconds between two signals to a worker that is not ready. */
    private const URGE_EVERY = 0.5;

    /** Signals that end a process which does not listen to them yet. */
    private const STOPS = [SIGTERM, SIGINT, SIGQUIT];

    public readonly int $pid;

    /** By hrtime(), in seconds. */
    public readonly float $startedAt;

    /** Its parent has said that it is ready. */
    public bool $isAnnounced = false;

    private ?float $stoppedAt = null;

    /** It was told to stop, and to this one it has to listen. */
    private bool $isTold = false;

    private float $urgedAt = 0.0;

    private ?float $awaySince = null;

    /** Its lines, by their first word. @var array<string, string> */
    private array $said = [];

    private string $heard = '';

    /** How it ended, once it has. */
    private ?string $end = null;

    private ?int $exitCode = null;

    /** @var resource */
    private $process;

    /** Null: the system has no file for it, or this is no worker. */
    private readonly ?InHand $inHand;

    /** @var resource the only copy of this end: the kernel closes it with the parent */
    public readonly mixed $socket;

    /**
     * @param list<string> $command
     * @param bool $isHeld it is to take no jobs before SIGCONT
     *
     * @throws RuntimeException when the system starts no further process
     */
    public function __construct(array $command, public readonly Slot $slot, public readonly int $generation, public readonly bool $isHeld)
    {
        $this->inHand = $slot->role === null ? InHand::ofParent() : null;
        $process = @proc_open(
            $command,
            [['file', '/dev/null', 'r'], self::DESCRIPTOR => ['socket']],
            $pipes,
            null,
            [Lifeline::VARIABLE => Lifeline::value(self::DESCRIPTOR, $isHeld, $slot->role), InHand::VARIABLE => (string) $this->inHand?->value()] + getenv(),
        );
        if ($process === false) {
            throw new RuntimeException(error_get_last()['message'] ?? "cannot start $command[0]");
        }
        $this->process = $process;
        $this->socket = $pipes[self::DESCRIPTOR];
        stream_set_blocking($this->socket, false);
        $this->startedAt = hrtime(true) / 1e9;
        $this->pid = $this->status()['pid'];
    }

    /** It has loaded its handler, obeys signals, and Redis has answered all that a worker asks before its first job. */
    public function isReady(): bool
    {
        return $this->hasSaid(Lifeline::READY);
    }

    /** It ended because nothing was due. */
    public function foundNothing(): bool
    {
        return $this->hasSaid(Lifeline::EMPTY);
    }

    /** It ended because an operator stopped it. */
    public function wasStopped(): bool
    {
        return $this->hasSaid(Lifeline::STOPPED);
    }

    /**
     * Its queues and where their Redis is, once it has loaded its handler.
     *
     * @return array{queues: list<string>, redis: string, prefix: string}|null
     */
    public function place(): ?array
    {
        return $this->hasSaid(Lifeline::PLACE) ? json_decode($this->said[Lifeline::PLACE], true, flags: JSON_THROW_ON_ERROR) : null;
    }

    /**
     * The last measure of the gauge, once.
     *
     * @return array{queue: string, wait: float}|null
     */
    public function takeLoad(): ?array
    {
        if (!$this->hasSaid(Lifeline::LOAD)) {
            return null;
        }
        $load = json_decode($this->said[Lifeline::LOAD], true, flags: JSON_THROW_ON_ERROR);
        unset($this->said[Lifeline::LOAD]);

        return $load;
    }

    /** For how many seconds it has not reached Redis. */
    public function awayFor(): float
    {
        $this->listen();

        return $this->awaySince === null ? 0.0 : hrtime(true) / 1e9 - $this->awaySince;
    }

    public function isRunning(): bool
    {
        return $this->end === null && $this->status()['running'];
    }

    /** In words; empty while it runs. */
    public function end(): string
    {
        return $this->end ?? '';
    }

    /**
     * The jobs whose handler ran when it ended.
     *
     * @return array{count: int, jobs: list<array{queue: string, id: string, attempt: int, of: int}>}|null null: none
     */
    public function inHand(): ?array
    {
        return $this->isRunning() ? null : $this->inHand?->read();
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

    /**
     * Tells a ready one once: at its very end a process does not listen any more, and a second signal would kill it. One beside the workers is told
     * when it is ready: before, the signal would end it, and what their last jobs have left would stay.
     */
    public function stop(): void
    {
        if ($this->stoppedAt === null) {
            $this->stoppedAt = $this->urgedAt = hrtime(true) / 1e9;
            $this->isTold = $this->isReady();
            ($this->isTold || $this->slot->role === null) && $this->signal(SIGTERM);
        }
    }

    /** A child that loads its handler may miss a signal, or be in a call that no signal ends. */
    public function urge(): void
    {
        // The parent reads each line, also one that nobody needs: a line that stays in the socket would wake it for ever.
        $this->listen();
        if ($this->stoppedAt === null || ($this->isTold && $this->slot->role === null)) {
            return;
        }
        $now = hrtime(true) / 1e9;
        if ($this->isReady() && !$this->isTold) {
            // It may have missed the signals before, and hears this one.
            $this->isTold = true;
            $this->signal(SIGTERM);
        } elseif ($now - $this->stoppedAt > self::STUCK_AFTER) {
            $this->signal(SIGKILL);
        } elseif (!$this->isTold && $this->slot->role === null && $now - $this->urgedAt >= self::URGE_EVERY) {
            $this->urgedAt = $now;
            $this->signal(SIGTERM);
        }
    }

    /**
     * Keeps how the process has ended, since PHP 8.2 tells the exit code once: to the first who asks after the end, which may come before the
     * constructor has asked for the number of the process.
     *
     * @return array{pid: int, running: bool}
     */
    private function status(): array
    {
        $status = proc_get_status($this->process);
        if (!$status['running']) {
            $this->exitCode = $status['signaled'] ? null : $status['exitcode'];
            $this->end = match (true) {
                !$status['signaled'] => "ended with exit code {$status['exitcode']}" . ($status['exitcode'] === ExitCode::STUCK ? ': its handler did not stop' : ''),
                $this->stoppedAt !== null && in_array($status['termsig'], self::STOPS, true) => 'was stopped' . ($this->isReady() ? '' : ' before it was ready'),
                default => "was killed by signal {$status['termsig']}",
            };
        }

        return $status;
    }

    private function hasSaid(string $word): bool
    {
        $this->listen();

        return isset($this->said[$word]);
    }

    private function listen(): void
    {
        $lines = explode("\n", $this->heard . @stream_get_contents($this->socket));
        $this->heard = array_pop($lines);
        foreach ($lines as $line) {
            [$word, $rest] = explode(' ', $line, 2) + [1 => ''];
            $this->said[$word] = $rest;
            $this->awaySince = match ($word) {
                Lifeline::AWAY => hrtime(true) / 1e9,
                Lifeline::BACK => null,
                default => $this->awaySince,
            };
        }
    }
}
