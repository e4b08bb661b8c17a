<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use SplMinHeap;

/**
 * Jobs in the order of serving: those that came back to an ordered group; priority, due time, id.
 *
 * @internal
 */
final class InOrder
{
    /** @var SplMinHeap<array{int, int, string, Entry}> a priority of -1 for those that came back */
    private SplMinHeap $heap;

    /** @param iterable<Entry> $entries */
    public function __construct(iterable $entries = [])
    {
        $this->heap = new SplMinHeap();
        foreach ($entries as $entry) {
            $this->add($entry);
        }
    }

    public function add(Entry $entry): void
    {
        $priority = $entry->isFirst ? -1 : $entry->info->priority;
        $this->heap->insert([$priority, $entry->dueUs, "i{$entry->info->id}", $entry]); // a letter: '10' is no number here
    }

    public function first(): ?Entry
    {
        return $this->heap->isEmpty() ? null : $this->heap->top()[3];
    }

    public function take(): ?Entry
    {
        return $this->heap->isEmpty() ? null : $this->heap->extract()[3];
    }
}
