<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\ExitCode;
use DelayQueue\Console\Text;
use SplQueue;

/**
 * Workers in processes of their own: those that die are replaced, and all of them, one after another, on SIGHUP.
 *
 * The parent knows nothing of Redis or of jobs. Whatever it learns comes as a signal or through a child's socket.
 */
final class Pool
{
    /** Seconds a successor may take to get ready. */
    private const READY_WITHIN = 60.0;

    /** Seconds between two looks; a signal or a word of a child's is heard at once. */
    private const LOOK = 1.0;

    /** @var list<Slot> */
    private readonly array $slots;

    /** @var SplQueue<int> that came and were not heeded yet */
    private readonly SplQueue $signals;

    private bool $isStopping = false;

    private bool $isHeld = false;

    private bool $wasEverReady = false;

    /** @var array<int, true> process ids of children that are ready */
    private array $ready = [];

    /** Grows with every SIGHUP; children of an older one are replaced. */
    private int $generation = 1;

    /** The generation that did not get ready: nobody is replaced by it. */
    private int $abandoned = 0;

    private int $exitCode = ExitCode::OK;

    /** @param list<string> $command starts a child */
    public function __construct(private readonly array $command, int $processes, private readonly bool $stopWhenEmpty, private readonly Notices $notices)
    {
        $this->signals = new SplQueue();
        $this->slots = array_map(static fn (int $number): Slot => new Slot($number), range(1, $processes));
    }

    /** Returns the exit code once all have ended, because a signal said so or nothing is left to do. */
    public function run(): int
    {
        $this->listen();
        do {
            while (!$this->signals->isEmpty()) {
                $this->heed($this->signals->dequeue());
            }
            foreach ($this->slots as $slot) {
                $this->tend($slot);
            }
            $this->replaceNext();
            $children = $this->children();
            $isOver = $children === [] && ($this->isStopping || $this->isFinished());
        } while (!$isOver && $this->rest($children));

        return $this->exitCode;
    }

    private function isFinished(): bool
    {
        return array_filter($this->slots, static fn (Slot $slot): bool => !$slot->isFinished) === [];
    }

    private function listen(): void
    {
        pcntl_async_signals(true);
        foreach ([SIGTERM, SIGINT, SIGQUIT, SIGHUP, SIGUSR2, SIGCONT, SIGCHLD] as $signal) {
            // Only noted: it can come between any two steps. False: it ends the rest.
            pcntl_signal($signal, fn (int $signal) => $this->signals->enqueue($signal), false);
        }
    }

    private function heed(int $signal): void
    {
        match ($signal) {
            SIGTERM, SIGINT, SIGQUIT => $this->stop(),
            SIGHUP => $this->reload(),
            SIGUSR2, SIGCONT => $this->hold($signal === SIGUSR2),
            SIGCHLD => null,
        };
    }

    private function reload(): void
    {
        $this->generation++;
        $this->notices->say('reload', 'SIGHUP: the workers are replaced one after another');
    }

    private function stop(): void
    {
        if (!$this->isStopping) {
            $this->isStopping = true;
            $this->notices->say('stopping', 'stopping: the workers finish the jobs they have');
        }
        foreach ($this->children() as $child) {
            $child->signal(SIGTERM);
        }
    }

    private function hold(bool $isHeld): void
    {
        $this->isHeld = $isHeld;
        foreach ($this->children() as $child) {
            if (isset($this->ready[$child->pid])) {
                $child->signal($isHeld ? SIGUSR2 : SIGCONT);
            }
        }
    }

    /** @return list<Child> */
    private function children(): array
    {
        return array_merge(...array_map(static fn (Slot $slot): array => $slot->children(), $this->slots));
    }

    private function tend(Slot $slot): void
    {
        foreach ($slot->children() as $child) {
            $this->welcome($child);
        }
        if ($slot->child !== null && !$slot->child->isRunning()) {
            $this->farewell($slot, $slot->child);
        }
        if ($slot->successor !== null) {
            $this->tendSuccessor($slot, $slot->successor);
        }
        if ($slot->child === null && !$slot->isFinished && !$this->isStopping && hrtime(true) / 1e9 >= $slot->startAt) {
            $slot->child = $this->start($slot);
        }
    }

    /** Signals that a child does not expect yet would end it: what changed since its start it hears when it is ready. */
    private function welcome(Child $child): void
    {
        if (isset($this->ready[$child->pid]) || !$child->isReady()) {
            return;
        }
        $this->wasEverReady = $this->ready[$child->pid] = true;
        if ($child->isHeld !== $this->isHeld) {
            // Not both: two signals that wait together do not arrive in the order in which they were sent.
            $child->signal($this->isHeld ? SIGUSR2 : SIGCONT);
        }
        $this->notices->say('ready', "worker $child->slot (process $child->pid) is ready", self::fields($child));
    }

    private function farewell(Slot $slot, Child $child): void
    {
        unset($this->ready[$child->pid]);
        [$slot->child, $slot->successor] = [$slot->successor, null];
        $then = '';
        if (($this->stopWhenEmpty && $child->foundNothing()) || ($slot->child === null && $child->wasStopped())) {
            $slot->isFinished = true;
        } elseif (!$this->wasEverReady && !$this->isStopping && $child->exitCode() === ExitCode::USAGE) {
            // The next one would say the same.
            $this->exitCode = ExitCode::USAGE;
            $this->stop();
        } elseif ($slot->child === null && !$this->isStopping) {
            $then = '; another starts ' . (($pause = $slot->schedule($child)) > 0 ? 'in ' . Text::length($pause) : 'now');
        }
        $this->notices->say('ended', "worker $child->slot (process $child->pid) {$child->end()}$then", self::fields($child));
    }

    private function tendSuccessor(Slot $slot, Child $successor): void
    {
        if (!$successor->isRunning()) {
            $slot->successor = null;
            $this->abandoned = $this->generation;
            $message = "worker $successor->slot (process $successor->pid), the new one, {$successor->end()}: the old ones stay";
            $this->notices->say('reloadFailed', $message, self::fields($successor));
        } elseif (isset($this->ready[$successor->pid])) {
            $slot->child?->signal(SIGTERM);
        } elseif ($successor->age() > self::READY_WITHIN) {
            $successor->signal(SIGKILL);
        }
    }

    private function replaceNext(): void
    {
        if ($this->isStopping || $this->abandoned === $this->generation) {
            return;
        }
        foreach ($this->slots as $slot) {
            if ($slot->successor !== null) {
                return;
            }
        }
        foreach ($this->slots as $slot) {
            if ($slot->child !== null && $slot->child->generation < $this->generation) {
                $slot->successor = $this->start($slot);

                return;
            }
        }
    }

    private function start(Slot $slot): Child
    {
        $child = new Child($this->command, $slot->number, $this->generation, $this->isHeld);
        $this->notices->say('started', "worker $child->slot (process $child->pid) started", self::fields($child));

        return $child;
    }

    /**
     * Until a child says something or ends, a signal comes, or it is time to start one.
     *
     * @param list<Child> $children
     */
    private function rest(array $children): true
    {
        $now = hrtime(true) / 1e9;
        $seconds = self::LOOK;
        foreach ($this->slots as $slot) {
            if ($slot->child === null && !$slot->isFinished && !$this->isStopping) {
                $seconds = min($seconds, max(0.0, $slot->startAt - $now));
            }
        }
        // One that was closed would wake it again and again.
        $sockets = array_filter(array_column($children, 'socket'), static fn (mixed $socket): bool => !feof($socket));
        $write = $except = [];
        if ($sockets === []) {
            usleep((int) ($seconds * 1e6));
        } else {
            @stream_select($sockets, $write, $except, 0, (int) ($seconds * 1e6));
        }

        return true;
    }

    /** @return array<string, int> */
    private static function fields(Child $child): array
    {
        return ['worker' => $child->slot, 'process' => $child->pid];
    }
}
