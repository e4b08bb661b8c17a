<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

/**
 * One group of a queue at a moment.
 *
 * @internal
 */
final class Group
{
    /** How many jobs are held. */
    public readonly int $held;

    /** How many wait, due or not. */
    public readonly int $waiting;

    /** When the job falls due that came back to the ordered group. */
    public readonly ?int $firstUs;

    /** The jobs whose turn it may be. */
    public readonly InOrder $due;

    /** When there is one more of them. */
    private int $aheadUs = Gates::NEVER;

    /** @param array<array-key, Entry> $entries those of the group, but buried ones */
    public function __construct(public readonly string $name, array $entries, private readonly Gates $gates, private readonly int $nowUs)
    {
        $waiting = array_filter($entries, static fn (Entry $entry): bool => $entry->isWaiting());
        $this->waiting = count($waiting);
        $this->held = count($entries) - $this->waiting;
        $this->due = new InOrder();
        $first = $gates->isOrdered($name) ? array_filter($waiting, static fn (Entry $entry): bool => $entry->isFirst) : [];
        $firstUs = array_map(static fn (Entry $entry): int => $entry->dueUs, array_values($first));
        $this->firstUs = $firstUs === [] ? null : min($firstUs);
        $isHeldUp = max([0, ...$firstUs]) > $nowUs;
        foreach ($waiting as $entry) {
            if ($isHeldUp && !$entry->isFirst) {
                continue;
            }
            if ($entry->dueUs <= $nowUs) {
                $this->due->add($entry);
            } else {
                $this->aheadUs = min($this->aheadUs, $entry->dueUs);
            }
        }
    }

    /** How many of its jobs may start now, by its limits. */
    public function most(): int
    {
        return $this->gates->most($this->name, $this->held, $this->nowUs);
    }

    /** When there is a token, and it is not closed; null: now. */
    public function opensUs(): ?int
    {
        $opensUs = $this->gates->momentUs($this->name, 0, $this->nowUs);

        return $opensUs > $this->nowUs ? $opensUs : null;
    }

    /** When a job is due, as far as order lets it: 0 where one is. */
    public function dueUs(): int
    {
        return $this->due->first() === null ? $this->aheadUs : 0;
    }

    /** From when on one may start: in the past where one may now. */
    public function momentUs(): int
    {
        return max($this->dueUs(), $this->gates->momentUs($this->name, $this->held, $this->nowUs));
    }
}
