<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

use DelayQueue\State;
use Generator;

/**
 * In which order the jobs of a queue are served: urgent ones; those of the default priority and the groups in line, by their moments; the rest.
 * The priority of a job of a group counts within its group alone.
 *
 * @internal
 */
final class Turns
{
    private const DEFAULT_PRIORITY = 1024;

    public function __construct(private readonly Jobs $jobs, private readonly int $nowUs)
    {
    }

    /** @return Generator<Entry> who asks for the next one has taken those before */
    public function jobs(): Generator
    {
        [$urgent, $default, $others] = $this->withoutGroup();
        yield from $this->taken($urgent);
        $turns = [];
        foreach ($this->jobs->line->until($this->nowUs) as [$us, $name]) {
            yield from $this->taken($default, $us);
            $turn = new Turn($this->jobs, $name, $this->nowUs);
            if ($turn->isOver()) {
                $this->jobs->line->put($turn->group, $us);
            } else {
                $turns[] = $turn;
                yield from $turn->jobs($this->jobs->line->left($name));
            }
        }
        yield from $this->taken($default);
        while ($turns !== []) {
            foreach ($turns as $n => $turn) {
                yield from $turn->jobs($this->jobs->gates->weight($turn->group->name));
                if ($turn->isOver()) {
                    unset($turns[$n]);
                }
            }
        }
        yield from $this->taken($others);
    }

    /** @return array{InOrder, InOrder, InOrder} the ready ones: urgent, of the default priority, and the others */
    private function withoutGroup(): array
    {
        $found = [new InOrder(), new InOrder(), new InOrder()];
        foreach ($this->jobs->having(State::Ready) as $entry) {
            if ($entry->info->group === null) {
                $found[1 + ($entry->info->priority <=> self::DEFAULT_PRIORITY)]->add($entry);
            }
        }

        return $found;
    }

    /** @return Generator<Entry> */
    private function taken(InOrder $jobs, int $untilUs = PHP_INT_MAX): Generator
    {
        while (($entry = $jobs->first()) !== null && $entry->dueUs <= $untilUs) {
            $jobs->take();
            if (!$this->jobs->endsLate($entry, $this->nowUs)) {
                yield $entry;
            }
        }
    }
}
