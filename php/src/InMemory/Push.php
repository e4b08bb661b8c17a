<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\DuplicateJobException;
use DelayQueue\OnDuplicate;

/**
 * Adds jobs, all or none of them, and knows the rules for ids that are taken.
 *
 * @internal
 */
final class Push
{
    public function __construct(private readonly Jobs $jobs)
    {
    }

    /**
     * @param list<array{Entry, OnDuplicate}> $pushed
     *
     * @throws DuplicateJobException when nothing has been added
     */
    public function all(array $pushed): void
    {
        $added = [];
        $replaced = 0;
        foreach ($pushed as [$entry, $onDuplicate]) {
            $id = $entry->info->id;
            $old = $this->jobs->find($id);
            if ($old !== null || isset($added[$id])) {
                if ($onDuplicate === OnDuplicate::Fail || $onDuplicate === OnDuplicate::Replace && $old?->lease !== null) {
                    throw new DuplicateJobException("job '$id' is already in queue '{$this->jobs->name}'");
                }
                if ($onDuplicate === OnDuplicate::Keep) {
                    continue;
                }
                ++$replaced;
            }
            $added[$id] = $entry;
        }
        foreach ($added as $entry) {
            $this->jobs->put($entry);
        }
        for (; $replaced > 0; --$replaced) {
            $this->jobs->add('replaced');
        }
    }
}
