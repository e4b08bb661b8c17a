<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

/** The place of one process in a pool: who works there, and when the next one may start. */
final class Slot
{
    /** A child that lived this long, in seconds, had not failed to start. */
    private const SETTLED_IN = 10.0;
    private const FIRST_PAUSE = 0.25;
    private const LONGEST_PAUSE = 30.0;

    public ?Child $child = null;

    /** By hrtime(), in seconds. */
    public float $startAt = 0.0;

    /** Its child found nothing more to do, and that was to be the end; or an operator stopped it. */
    public bool $isFinished = false;

    private int $failures = 0;

    /** @param Role|null $role what is done there; null: it is a worker's */
    public function __construct(public readonly int $number, public readonly ?Role $role = null)
    {
    }

    /** As the log calls it. */
    public function name(): string
    {
        return $this->role === null ? "worker $this->number" : $this->role->value;
    }

    /** Nobody works there, because the last one has failed. */
    public function isBroken(): bool
    {
        return $this->child === null && $this->failures > 0;
    }

    /**
     * Decides when the next child may start: after a clean end at once, but not in a circle; after failures later and later.
     *
     * @param Child|null $ended null: it could not be started at all
     *
     * @return float seconds from now
     */
    public function schedule(?Child $ended): float
    {
        $now = hrtime(true) / 1e9;
        if ($ended?->exitCode() === 0) {
            $this->failures = 0;
            $pause = max(0.0, $ended->startedAt + self::FIRST_PAUSE - $now);
        } else {
            $this->failures = $ended?->age() >= self::SETTLED_IN ? 1 : $this->failures + 1;
            $pause = min(self::LONGEST_PAUSE, self::FIRST_PAUSE * 2 ** min(10, $this->failures - 1));
        }
        $this->startAt = $now + $pause;

        return $pause;
    }
}
