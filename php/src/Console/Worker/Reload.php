<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\Text;

/** The new workers of a reload. They take no jobs before all of them are ready, and the old ones work until then. */
final class Reload
{
    /** Seconds in which a new worker has to get ready. */
    private const READY_WITHIN = 60.0;

    /** Seconds for which a new worker waits for a Redis that is away. */
    private const REDIS_WITHIN = 10.0;

    /** @var array<int, Child> by the numbers of their slots */
    private array $successors = [];

    /** @return array<int, Child> by the numbers of their slots */
    public function successors(): array
    {
        return $this->successors;
    }

    public function add(Child $successor): void
    {
        $this->successors[$successor->slot->number] = $successor;
    }

    /**
     * The slots that lack a successor now. The first successor starts alone: where it does not get ready, the others would not either.
     *
     * @param list<Slot> $old those whose workers are to be replaced
     *
     * @return list<Slot>
     */
    public function missing(array $old): array
    {
        $missing = array_values(array_filter($old, fn (Slot $slot): bool => !isset($this->successors[$slot->number])));

        return match (true) {
            $this->successors === [] => array_slice($missing, 0, 1),
            $this->isReady() => $missing,
            default => [],
        };
    }

    /** All that were started are ready. */
    public function isReady(): bool
    {
        return array_filter($this->successors, static fn (Child $child): bool => !$child->isReady()) === [];
    }

    /** The successor that will not get ready, and why not; null: there is none. @return array{Child, string}|null */
    public function failure(): ?array
    {
        foreach ($this->successors as $child) {
            $why = match (true) {
                !$child->isRunning() => $child->end(),
                $child->isReady() => null,
                $child->awayFor() > self::REDIS_WITHIN => 'has not reached Redis for ' . Text::length(self::REDIS_WITHIN),
                $child->age() > self::READY_WITHIN => 'was not ready within ' . Text::length(self::READY_WITHIN),
                default => null,
            };
            if ($why !== null) {
                return [$child, $why];
            }
        }

        return null;
    }
}
