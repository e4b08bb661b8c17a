<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

/** Decides how many workers there are, by how long ready jobs wait. */
final class Scale
{
    /** Seconds in which no job waits too long, before one worker ends. */
    private const CALM = 60.0;

    /** The calm is doubled each time when the workers that were left were too few, up to so many times. */
    private const LONGEST_CALM = 16;

    /** Seconds without a word, after which nobody knows whether it was calm. */
    private const FORGOTTEN_AFTER = 5.0;

    /** How long it has to be calm now. */
    private float $needed;

    private ?float $calmSince = null;

    private ?float $heardAt = null;

    /** When the last worker ended, until it is known whether the others were enough. */
    private ?float $reducedAt = null;

    /**
     * @param float $target seconds that a ready job may wait
     * @param float $calm shorter in tests
     */
    public function __construct(
        public readonly int $least,
        public readonly int $most,
        public readonly float $target,
        private readonly float $calm = self::CALM,
    ) {
        $this->needed = $calm;
    }

    /**
     * Is to be asked once a second.
     *
     * @param float $wait for how many seconds the oldest ready job has waited
     * @param int $workers how many there are
     * @param float $now in seconds, by any clock
     *
     * @return int how many more there are to be; -1: one less
     */
    public function change(float $wait, int $workers, float $now): int
    {
        if ($this->heardAt !== null && $now - $this->heardAt > self::FORGOTTEN_AFTER) {
            $this->calmSince = null;
        }
        $this->heardAt = $now;
        if ($this->reducedAt !== null && $now - $this->reducedAt >= $this->needed) {
            [$this->reducedAt, $this->needed] = [null, $this->calm];
        }

        return $wait > $this->target ? $this->more($workers) : $this->fewer($workers, $now);
    }

    /** For how many seconds it was calm before the last worker ended. */
    public function calm(): float
    {
        return $this->needed;
    }

    /** A quarter, at least one: ten workers within ten seconds, a hundred within twenty. */
    private function more(int $workers): int
    {
        $this->calmSince = null;
        if ($this->reducedAt !== null) {
            [$this->reducedAt, $this->needed] = [null, min(2 * $this->needed, self::LONGEST_CALM * $this->calm)];
        }

        return max(0, min(max(1, intdiv($workers, 4)), $this->most - $workers));
    }

    private function fewer(int $workers, float $now): int
    {
        $this->calmSince ??= $now;
        if ($workers <= $this->least || $now - $this->calmSince < $this->needed) {
            return 0;
        }
        $this->calmSince = $this->reducedAt = $now;

        return -1;
    }
}
