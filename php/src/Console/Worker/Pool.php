<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\ExitCode;
use SplQueue;

/**
 * Workers in processes of their own, and one process for each role beside them, which stops last: what the last job has left to it is still done.
 *
 * The parent knows nothing of Redis or of jobs. Whatever it learns comes as a signal or through a child's socket.
 */
final class Pool
{
    /** Seconds between two looks; a signal or a word of a child's is heard at once. */
    private const LOOK = 1.0;

    private readonly Crew $workers;

    /** @var list<Crew> of one process each */
    private readonly array $companions;

    /** @var SplQueue<int> that came and were not obeyed yet */
    private readonly SplQueue $signals;

    private readonly PoolLog $log;

    private int $exitCode = ExitCode::OK;

    /**
     * @param list<string> $command starts a child
     * @param int $processes at its start
     * @param list<Role> $roles
     * @param Scale|null $scale null: their number stays. Else one of the roles is the gauge
     * @param Systemd|null $systemd hears how they are
     */
    public function __construct(
        array $command,
        private readonly int $processes,
        bool $stopWhenEmpty,
        Notices $notices,
        array $roles = [],
        private readonly ?Scale $scale = null,
        private readonly ?Systemd $systemd = null,
    ) {
        $this->log = new PoolLog($notices);
        $this->signals = new SplQueue();
        $isInterrupted = fn (): bool => !$this->signals->isEmpty();
        $this->companions = array_map(static fn (Role $role): Crew => new Crew($command, 1, $role, false, $notices, $isInterrupted), $roles);
        // Not before: a release with which no worker starts is not rolled out beside them.
        $reloaded = fn () => array_map(static fn (Crew $crew) => $crew->reload(), $this->companions);
        $this->workers = new Crew($command, $processes, null, $stopWhenEmpty, $notices, $isInterrupted, $reloaded);
    }

    /** Returns the exit code once all have ended, because a signal said so or nothing is left to do. */
    public function run(): int
    {
        $this->listen();
        OpenFiles::allow(2 * (($this->scale->most ?? $this->processes) + count($this->companions)));
        do {
            while (!$this->signals->isEmpty()) {
                $this->obey($this->signals->dequeue());
            }
            foreach ($this->crews() as $crew) {
                $crew->tend();
                if ($crew->isMisused()) {
                    $this->exitCode = ExitCode::USAGE;
                    $this->workers->stop();
                }
            }
            $this->scale === null || $this->follow($this->scale);
            $this->workers->isReady() && $this->systemd?->ready();
            $this->systemd?->alive();
        } while (!$this->isOver() && $this->rest());

        return $this->exitCode;
    }

    /** The companions go on until the workers have ended, and begin even if these end at once: their last jobs may have left something. */
    private function isOver(): bool
    {
        if (!$this->workers->isOver()) {
            return false;
        }
        foreach ($this->companions as $crew) {
            if ($this->workers->hasBegun() && !$crew->wasTried()) {
                return false;
            }
            $crew->stop();
        }

        return array_filter($this->companions, static fn (Crew $crew): bool => !$crew->isOver()) === [];
    }

    /** Has as many workers as the load wants, whenever the gauge has told of it. */
    private function follow(Scale $scale): void
    {
        foreach ($this->companions as $crew) {
            foreach ($crew->children() as $child) {
                $load = $child->takeLoad();
                if ($load !== null && $this->workers->isSteady()) {
                    $change = $scale->change($load['wait'], $this->workers->size(), hrtime(true) / 1e9);
                    $change > 0 && $this->workers->mayGrow() && $this->log->added($this->workers->grow($change), $load);
                    $change < 0 && $this->log->removed($this->workers->shrink(), $scale);
                }
            }
        }
    }

    private function listen(): void
    {
        pcntl_async_signals(true);
        foreach ([SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR2, SIGCONT, SIGCHLD] as $signal) {
            // Only noted: it can come between any two steps. False: it ends the rest.
            pcntl_signal($signal, fn (int $signal) => $this->signals->enqueue($signal), false);
        }
    }

    private function obey(int $signal): void
    {
        match ($signal) {
            SIGTERM, SIGINT, SIGQUIT => $this->stop(),
            SIGHUP => $this->reload(),
            SIGUSR2, SIGCONT => $this->workers->hold($signal === SIGUSR2),
            SIGCHLD => null,
        };
    }

    private function stop(): void
    {
        $this->systemd?->stopping();
        $this->workers->stop();
    }

    private function reload(): void
    {
        $this->systemd?->reloading();
        $this->workers->reload();
    }

    /** @return list<Crew> those that have begun, or may: if no worker starts, nobody does */
    private function crews(): array
    {
        return [$this->workers, ...$this->workers->hasBegun() ? $this->companions : []];
    }

    /** Until a child says something or ends, a signal comes, or it is time to start one. */
    private function rest(): true
    {
        $now = hrtime(true) / 1e9;
        $seconds = $this->signals->isEmpty() ? min(self::LOOK, $this->systemd?->next() ?? self::LOOK) : 0.0;
        $sockets = [];
        foreach ($this->crews() as $crew) {
            $seconds = min($seconds, max(0.0, ($crew->nextStart() ?? INF) - $now));
            // A closed socket would wake it again and again.
            $sockets = [...$sockets, ...array_filter(array_column($crew->children(), 'socket'), static fn (mixed $socket): bool => !feof($socket))];
        }
        $write = $except = [];
        if ($sockets === []) {
            usleep((int) ($seconds * 1e6));
        } else {
            @stream_select($sockets, $write, $except, 0, (int) ($seconds * 1e6));
        }

        return true;
    }
}
