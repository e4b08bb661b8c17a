<?php

declare(strict_types=1);

namespace DelayQueue\Search;

/**
 * The account that a search gives of its last pass.
 *
 * @internal
 */
trait TellsOfPass
{
    private ?Walk $walk = null;

    private ?Position $position = null;

    /** How many jobs the last pass has read. */
    public function read(): int
    {
        return $this->walk->read ?? 0;
    }

    /**
     * Where another pass goes on, for after(): a text that has all a pass has to know of those before, so that no job
     * is changed twice.
     *
     * @return string|null null: the last pass has met all jobs; else it has ended at limit() or reading(), or with an
     *     error
     */
    public function next(): ?string
    {
        return $this->walk === null || $this->walk->hasEnded ? null : $this->position?->text($this->walk->place());
    }

    /** How many jobs the last pass has found and left as they are. */
    public function skipped(): int
    {
        return $this->walk->skipped ?? 0;
    }
}
