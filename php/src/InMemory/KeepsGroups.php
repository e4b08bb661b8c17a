<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\GroupLimits;

/**
 * The groups among the jobs of a queue: what keeps them from being served, and their line.
 *
 * @internal
 */
trait KeepsGroups
{
    public readonly Gates $gates;

    public readonly Line $line;

    /** Whether there are groups or limits to ask for. */
    public function hasGroups(): bool
    {
        return !$this->line->isEmpty() || $this->gates->haveLimits();
    }

    public function group(string $name, int $nowUs): Group
    {
        return new Group($name, $this->ofGroup($name), $this->gates, $nowUs);
    }

    /** @return array<array-key, Entry> those of a group that wait or are held */
    public function ofGroup(string $name): array
    {
        return array_filter($this->entries, static fn (Entry $entry): bool => $entry->info->group === $name && !$entry->isBuried);
    }

    /** @return list<string> those with jobs that wait or are held, in the order of their bytes */
    public function groups(): array
    {
        $names = [];
        foreach ($this->entries as $entry) {
            if ($entry->info->group !== null && !$entry->isBuried) {
                $names[$entry->info->group] = true;
            }
        }
        $names = array_map(strval(...), array_keys($names));
        sort($names, SORT_STRING);

        return $names;
    }

    /** A job waits from its due time on: the place in line may be too early. */
    public function waits(Entry $entry): void
    {
        if ($entry->info->group !== null && $entry->isWaiting()) {
            $this->line->come($entry->info->group, max($entry->dueUs, $this->store->nowUs()));
        }
    }

    /** A job leaves the place where it waits: if it was the first of an ordered group, the others are held up no more. */
    public function leaves(Entry $entry): void
    {
        if ($entry->isFirst) {
            $entry->isFirst = false;
            $this->line->come((string) $entry->info->group, $this->store->nowUs());
        }
    }

    /** A job was held, and comes back or is buried: in an ordered group it comes back as the first. */
    public function comesBack(Entry $entry): void
    {
        $group = $entry->info->group;
        $entry->isFirst = $entry->isWaiting() && $group !== null && $this->gates->isOrdered($group);
        $this->waits($entry);
        $this->letIn($group);
    }

    /** A job of it is held no more, which may leave room for another. */
    public function letIn(?string $name): void
    {
        if ($name !== null && $this->gates->hasConcurrency($name)) {
            $nowUs = $this->store->nowUs();
            $group = $this->group($name, $nowUs);
            if ($group->waiting > 0) {
                $this->line->come($name, max($nowUs, $group->firstUs ?? 0));
            }
        }
    }

    /** Limits of a group, or of all others, from the next lease on; null: none. They begin with a new turn. */
    public function limit(?string $group, ?GroupLimits $limits): void
    {
        $this->gates->limit($group ?? Gates::OTHERS, $limits);
        $nowUs = $this->store->nowUs();
        foreach ($group === null ? $this->groups() : [$group] as $name) {
            $this->line->endTurn($name);
            $this->gates->writeOff($name, $nowUs);
            $this->line->look($this->group($name, $nowUs), min($this->line->momentUs($name) ?? $nowUs, $nowUs));
        }
    }

    /**
     * These were served together, and are held now.
     *
     * @param list<Entry> $entries
     */
    public function served(array $entries): void
    {
        $nowUs = $this->store->nowUs();
        $groups = array_values(array_filter(array_map(static fn (Entry $entry): ?string => $entry->info->group, $entries), is_string(...)));
        $many = array_count_values($groups);
        // They go to the end of the line in the order of the batch: at one moment it would be that of their names.
        $last = array_flip($groups);
        foreach ($many as $group => $count) {
            $this->line->serve($this->group((string) $group, $nowUs), $count, $nowUs - count($groups) + $last[$group] + 1);
        }
        if ($many !== []) {
            $this->gates->forgetPast($nowUs);
        }
    }

    /** It is leased: tokens are spent, also where nobody has asked for them. */
    public function spend(Entry $entry, int $nowUs): void
    {
        foreach ([Gates::QUEUE, $entry->info->group] as $name) {
            if ($name !== null) {
                $this->gates->spend($name, 1, $nowUs);
            }
        }
    }
}
