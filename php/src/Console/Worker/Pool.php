<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\ExitCode;
use RuntimeException;
use SplQueue;

/**
 * Workers in processes of their own: those that die are replaced, and all of them together on SIGHUP.
 *
 * The parent knows nothing of Redis or of jobs. Whatever it learns comes as a signal or through a child's socket.
 */
final class Pool
{
    /** Seconds between two looks; a signal or a word of a child's is heard at once. */
    private const LOOK = 1.0;

    /** @var list<Slot> */
    private readonly array $slots;

    /** @var SplQueue<int> that came and were not heeded yet */
    private readonly SplQueue $signals;

    private bool $isStopping = false;

    private bool $isHeld = false;

    private bool $wasEverReady = false;

    /** The first worker has loaded its handler: the others may start. */
    private bool $hasBegun = false;

    /** Grows with every SIGHUP; children of an older one are replaced. */
    private int $generation = 1;

    private ?Reload $reload = null;

    /** @var list<Child> that were told to end, and whose places others have taken */
    private array $leaving = [];

    private int $exitCode = ExitCode::OK;

    private readonly PoolLog $log;

    /** @param list<string> $command starts a child */
    public function __construct(private readonly array $command, int $processes, private readonly bool $stopWhenEmpty, Notices $notices)
    {
        $this->log = new PoolLog($notices);
        $this->signals = new SplQueue();
        $this->slots = array_map(static fn (int $number): Slot => new Slot($number), range(1, $processes));
    }

    /** Returns the exit code once all have ended, because a signal said so or nothing is left to do. */
    public function run(): int
    {
        $this->listen();
        OpenFiles::allow(2 * count($this->slots));
        do {
            while (!$this->signals->isEmpty()) {
                $this->heed($this->signals->dequeue());
            }
            foreach ($this->slots as $slot) {
                $this->tend($slot);
            }
            $this->tendLeaving();
            if ($this->reload !== null) {
                $this->tendReload($this->reload);
            }
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
        if ($this->isStopping) {
            return;
        }
        $this->dismiss(...$this->reload?->successors() ?? []);
        $this->generation++;
        $this->reload = new Reload();
        foreach ($this->slots as $slot) {
            $slot->startAt = 0.0; // the pause was for the old code
        }
        $this->log->reload();
    }

    private function stop(): void
    {
        if (!$this->isStopping) {
            $this->isStopping = true;
            $this->log->stopping();
        }
        $this->dismiss(...$this->reload?->successors() ?? []);
        $this->reload = null;
        foreach ($this->children() as $child) {
            $child->stop();
        }
    }

    private function hold(bool $isHeld): void
    {
        $this->isHeld = $isHeld;
        foreach ($this->slots as $slot) {
            if ($slot->child?->isAnnounced) {
                $slot->child->signal($isHeld ? SIGUSR2 : SIGCONT);
            }
        }
    }

    /** @return list<Child> */
    private function children(): array
    {
        return array_values(array_filter([...array_column($this->slots, 'child'), ...$this->leaving, ...$this->reload?->successors() ?? []]));
    }

    private function tend(Slot $slot): void
    {
        $child = $slot->child;
        if ($child !== null) {
            $this->welcome($child) && $this->obey($child);
            $child->urge();
            $child->isRunning() || $this->farewell($slot, $child);
        }
        if ($this->mayStart($slot)) {
            $slot->child = $this->start($slot, $this->isHeld);
        }
    }

    /** A signal that waits may be the one to stop: it is heeded before the next process is started. */
    private function mayStart(Slot $slot): bool
    {
        return $slot->child === null && !$slot->isFinished && !$this->isStopping && $this->signals->isEmpty()
            && ($this->hasBegun || $slot === $this->slots[0]) && hrtime(true) / 1e9 >= $slot->startAt;
    }

    /** True: it is ready now, and was not before. */
    private function welcome(Child $child): bool
    {
        // Only the workers know where their Redis is, since the file of --bootstrap may say so.
        if (!$this->hasBegun && ($place = $child->place()) !== null) {
            $this->hasBegun = true;
            $this->log->starting(count($this->slots), $place);
            $this->log->started($child);
        }
        if ($child->isAnnounced || !$child->isReady()) {
            return false;
        }
        $this->wasEverReady = $child->isAnnounced = true;
        $this->log->ready($child);

        return true;
    }

    /** Signals that a child does not expect yet would end it: what changed since its start it hears when it is ready. */
    private function obey(Child $child): void
    {
        if ($child->isHeld !== $this->isHeld) {
            // Not both: two signals that wait together do not arrive in the order in which they were sent.
            $child->signal($this->isHeld ? SIGUSR2 : SIGCONT);
        }
    }

    private function farewell(Slot $slot, Child $child): void
    {
        $slot->child = $pause = null;
        if (($this->stopWhenEmpty && $child->foundNothing()) || $child->wasStopped()) {
            $slot->isFinished = true;
        } elseif (!$this->wasEverReady && !$this->isStopping && $child->exitCode() === ExitCode::USAGE) {
            // The next one would say the same.
            $this->exitCode = ExitCode::USAGE;
            $this->stop();
        } elseif (!$this->isStopping) {
            $pause = $slot->schedule($child);
        }
        $this->log->ended($child, $pause);
    }

    private function tendLeaving(): void
    {
        foreach ($this->leaving as $key => $child) {
            $child->urge();
            if (!$child->isRunning()) {
                unset($this->leaving[$key]);
                $this->log->ended($child);
            }
        }
    }

    private function tendReload(Reload $reload): void
    {
        array_map($this->welcome(...), $reload->successors());
        if (($failure = $reload->failure()) !== null) {
            $this->abandon($reload, ...$failure);

            return;
        }
        $old = array_values(array_filter($this->slots, fn (Slot $slot): bool => ($slot->child->generation ?? $this->generation) < $this->generation));
        $missing = $reload->missing($old);
        foreach ($missing as $slot) {
            if (!$this->signals->isEmpty()) {
                return;
            }
            $child = $this->start($slot, true);
            if ($child === null) {
                $this->abandon($reload, null, 'could not be started');

                return;
            }
            $reload->add($child);
        }
        if ($missing === [] && $reload->isReady()) {
            $this->takeOver($reload);
        }
    }

    private function abandon(Reload $reload, ?Child $child, string $why): void
    {
        $this->reload = null;
        $this->log->reloadFailed($child, $why);
        $this->dismiss(...array_filter($reload->successors(), static fn (Child $other): bool => $other !== $child || $child->isRunning()));
    }

    private function takeOver(Reload $reload): void
    {
        $this->reload = null;
        $successors = $reload->successors();
        $this->log->reloaded(reset($successors) ? current($successors)->place() : null);
        foreach ($successors as $number => $successor) {
            $slot = $this->slots[$number - 1];
            // The old one may have ended meanwhile, and one with the new code may have followed.
            if ($slot->isFinished || $slot->child?->generation === $this->generation) {
                $this->dismiss($successor);
                continue;
            }
            $this->dismiss(...array_filter([$slot->child]));
            $slot->child = $successor;
            $this->obey($successor);
        }
    }

    /** Tells them to end. */
    private function dismiss(Child ...$children): void
    {
        foreach ($children as $child) {
            $child->stop();
            $this->leaving[] = $child;
        }
    }

    /** Null: the system starts no further process. */
    private function start(Slot $slot, bool $isHeld): ?Child
    {
        try {
            $child = new Child($this->command, $slot->number, $this->generation, $isHeld);
        } catch (RuntimeException $error) {
            $this->log->startFailed($slot, $error->getMessage(), $slot->schedule(null));

            return null;
        }
        $this->hasBegun && $this->log->started($child);

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
        $seconds = $this->signals->isEmpty() ? self::LOOK : 0.0;
        foreach ($this->slots as $slot) {
            if ($slot->child === null && !$slot->isFinished && !$this->isStopping && ($this->hasBegun || $slot === $this->slots[0])) {
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
}
