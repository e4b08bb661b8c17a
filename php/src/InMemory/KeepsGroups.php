<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

/**
 * The groups among the jobs of a queue: what keeps them from being served, and their line.
 *
 * @internal
 */
trait KeepsGroups
{
    public readonly Gates $gates;

    public readonly Line $line;

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

    /** A job waits, from its due time on. */
    public function waits(Entry $entry): void
    {
        if ($entry->info->group !== null && $entry->isWaiting()) {
            $this->line->come($entry->info->group, max($entry->dueUs, $this->store->nowUs()));
        }
    }

    /** A job was held, and comes back: in an ordered group as the first. */
    public function comesBack(Entry $entry): void
    {
        $group = $entry->info->group;
        $entry->isFirst = $entry->isWaiting() && $group !== null && $this->gates->isOrdered($group);
        $this->waits($entry);
        $this->lookAt($group);
    }

    /** Something has changed: it may be the turn of this group, or not any more. */
    public function lookAt(?string $group): void
    {
        if ($group !== null) {
            $nowUs = $this->store->nowUs();
            $this->line->put($this->group($group, $nowUs), $nowUs);
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
        $many = array_count_values(array_filter(array_map(static fn (Entry $entry): ?string => $entry->info->group, $entries), is_string(...)));
        foreach ($many as $group => $count) {
            $this->line->serve($this->group((string) $group, $nowUs), $count, $nowUs);
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
