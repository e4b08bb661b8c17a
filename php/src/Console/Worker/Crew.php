<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use Closure;
use DelayQueue\Console\ExitCode;
use RuntimeException;

/**
 * Processes of a pool that do the same: the workers, or the one of a role beside them. Those that die are replaced, and all of them together when the pool
 * reloads.
 */
final class Crew
{
    /** @var array<int, Slot> by their numbers */
    private array $slots;

    private readonly PoolLog $log;

    private bool $isStopping = false;

    private bool $isHeld = false;

    private bool $wasEverReady = false;

    private bool $isMisused = false;

    /** The first worker has loaded its handler: the others may start. */
    private bool $hasBegun;

    /** A process was started, or the system did not start it. */
    private bool $wasTried = false;

    /** Grows with every reload; children of an older one are replaced. */
    private int $generation = 1;

    private ?Reload $reload = null;

    /** @var list<Child> that were told to end, and whose places others have taken */
    private array $leaving = [];

    /**
     * @param list<string> $command starts a child
     * @param Role|null $role null: they are the workers
     * @param Closure(): bool $isInterrupted a signal waits that may be the one to stop: it is obeyed before the next process is started
     * @param Closure(): void|null $reloaded hears that new workers have replaced the old ones
     */
    public function __construct(
        private readonly array $command,
        int $size,
        private readonly ?Role $role,
        private readonly bool $stopWhenEmpty,
        Notices $notices,
        private readonly Closure $isInterrupted,
        private readonly ?Closure $reloaded = null,
    ) {
        $this->log = new PoolLog($notices, $role);
        $this->hasBegun = $role !== null;
        $numbers = range(1, $size);
        $this->slots = array_combine($numbers, array_map(static fn (int $number): Slot => new Slot($number, $role), $numbers));
    }

    /** The first one has loaded what it works with. */
    public function hasBegun(): bool
    {
        return $this->hasBegun;
    }

    public function wasTried(): bool
    {
        return $this->wasTried;
    }

    /** It was started in a wrong way, and would be again. */
    public function isMisused(): bool
    {
        return $this->isMisused;
    }

    /** Nobody runs, and nobody is to follow. */
    public function isOver(): bool
    {
        return $this->children() === [] && ($this->isStopping || array_filter($this->slots, static fn (Slot $slot): bool => !$slot->isFinished) === []);
    }

    /** Looks after all of them: starts, replaces and announces. */
    public function tend(): void
    {
        foreach ($this->slots as $slot) {
            $this->tendSlot($slot);
        }
        foreach ($this->leaving as $key => $child) {
            $child->urge();
            if (!$child->isRunning()) {
                unset($this->leaving[$key]);
                $this->log->ended($child);
            }
        }
        if ($this->reload !== null) {
            $this->tendReload($this->reload);
        }
    }

    /** In how many places somebody works, or is to. */
    public function size(): int
    {
        return count(array_filter($this->slots, static fn (Slot $slot): bool => !$slot->isFinished));
    }

    /** One of them was ready, and no reload is under way. */
    public function isReady(): bool
    {
        return $this->wasEverReady && $this->reload === null;
    }

    /** They do what they always do. */
    public function isSteady(): bool
    {
        return $this->hasBegun && !$this->isStopping && !$this->isHeld && $this->reload === null;
    }

    /** Whether more of them may help. Where some crash, more would, too; and an operator who has stopped one wants no other in its place. */
    public function mayGrow(): bool
    {
        return array_filter($this->slots, static fn (Slot $slot): bool => $slot->isFinished || $slot->isBroken()) === [];
    }

    /** @return list<string> the names of the new places */
    public function grow(int $more): array
    {
        for ($names = [], $number = 1; count($names) < $more; $number++) {
            if (!isset($this->slots[$number])) {
                $this->slots[$number] = new Slot($number, $this->role);
                $names[] = $this->slots[$number]->name();
            }
        }

        return $names;
    }

    /** The newest place is no more. @return string its name */
    public function shrink(): string
    {
        $number = max(array_keys(array_filter($this->slots, static fn (Slot $slot): bool => !$slot->isFinished)));
        $slot = $this->slots[$number];
        unset($this->slots[$number]);
        $this->dismiss(...array_filter([$slot->child]));

        return $slot->name();
    }

    public function reload(): void
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

    public function stop(): void
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

    public function hold(bool $isHeld): void
    {
        $this->isHeld = $isHeld;
        foreach ($this->slots as $slot) {
            if ($slot->child?->isAnnounced) {
                $slot->child->signal($isHeld ? SIGUSR2 : SIGCONT);
            }
        }
    }

    /** @return list<Child> */
    public function children(): array
    {
        return array_values(array_filter([...array_column($this->slots, 'child'), ...$this->leaving, ...$this->reload?->successors() ?? []]));
    }

    /** When one is to be started next, by hrtime() in seconds; null: none is. */
    public function nextStart(): ?float
    {
        $waiting = array_filter($this->slots, fn (Slot $slot): bool => $this->isFree($slot));

        return $waiting === [] ? null : min(array_column($waiting, 'startAt'));
    }

    private function tendSlot(Slot $slot): void
    {
        $child = $slot->child;
        if ($child !== null) {
            $this->welcome($child) && $this->obey($child);
            $child->urge();
            $child->isRunning() || $this->farewell($slot, $child);
        }
        if ($this->isFree($slot) && !($this->isInterrupted)() && hrtime(true) / 1e9 >= $slot->startAt) {
            $slot->child = $this->start($slot, $this->isHeld);
        }
    }

    /** Nobody works there, and somebody may. */
    private function isFree(Slot $slot): bool
    {
        return $slot->child === null && !$slot->isFinished && !$this->isStopping && ($this->hasBegun || $slot === reset($this->slots));
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
        } elseif (!$this->isStopping && $child->exitCode() === ExitCode::USAGE && $this->isAtItsStart()) {
            // The next one would say the same.
            $this->isMisused = true;
            $this->stop();
        } elseif (!$this->isStopping) {
            $pause = $slot->schedule($child);
        }
        $this->log->ended($child, $pause);
    }

    /** A release that comes later does not end workers that work, only because the process beside them does not start. */
    private function isAtItsStart(): bool
    {
        return !$this->wasEverReady && ($this->role === null || $this->generation === 1);
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
            if (($this->isInterrupted)()) {
                return;
            }
            $child = $this->start($slot, $this->role === null);
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
        $this->log->reloaded(reset($successors) ?: null);
        foreach ($successors as $number => $successor) {
            $slot = $this->slots[$number];
            // The old one may have ended meanwhile, and one with the new code may have followed.
            if ($slot->isFinished || $slot->child?->generation === $this->generation) {
                $this->dismiss($successor);
                continue;
            }
            $this->dismiss(...array_filter([$slot->child]));
            $slot->child = $successor;
            $this->obey($successor);
        }
        $this->reloaded === null || ($this->reloaded)();
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
        $this->wasTried = true;
        try {
            $child = new Child($this->command, $slot, $this->generation, $isHeld);
        } catch (RuntimeException $error) {
            $this->log->startFailed($slot, $error->getMessage(), $slot->schedule(null));

            return null;
        }
        $this->hasBegun && $this->log->started($child);

        return $child;
    }
}
