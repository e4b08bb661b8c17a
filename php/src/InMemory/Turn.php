<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use Generator;

/**
 * The turn of a group: its next jobs, never more than it has room and tokens for.
 *
 * @internal
 */
final class Turn
{
    private int $left;

    public function __construct(public readonly Group $group)
    {
        $this->left = $group->most();
    }

    /** Whether it has no job to give. */
    public function isOver(): bool
    {
        return $this->left === 0 || $this->group->due->first() === null;
    }

    /** @return Generator<Entry> up to so many */
    public function jobs(int $many): Generator
    {
        for ($many = min($many, $this->left); $many > 0 && ($entry = $this->group->due->take()) !== null;) {
            --$many;
            --$this->left;
            yield $entry;
        }
    }
}
