<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

/** Decides how many workers there are, by how long ready jobs wait. */
final class Scale
{
    /** Seconds in which no job waits too long, before one worker ends. */
    private const CALM = 60.0;

    /** Seconds without a word, after which nobody knows whether it was calm. */
    private const FORGOTTEN_AFTER = 5.0;

    private ?float $calmSince = null;

    private ?float $heardAt = null;

    /**
     * @param float $target seconds that a ready job may wait
     * @param float $calm shorter in tests
     */
    public function __construct(
        public readonly int $least,
        public readonly int $most,
        public readonly float $target,
        public readonly float $calm = self::CALM,
    ) {
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

        return $wait > $this->target ? $this->more($workers) : $this->fewer($workers, $now);
    }

    /** A quarter, at least one: ten workers within ten seconds, a hundred within twenty. */
    private function more(int $workers): int
    {
        $this->calmSince = null;

        return max(0, min(max(1, intdiv($workers, 4)), $this->most - $workers));
    }

    private function fewer(int $workers, float $now): int
    {
        $this->calmSince ??= $now;
        if ($workers <= $this->least || $now - $this->calmSince < $this->calm) {
            return 0;
        }
        $this->calmSince = $now;

        return -1;
    }
}
