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
    public const DEFAULT_PRIORITY = 1024;

    public function __construct(private readonly Jobs $jobs, private readonly int $nowUs)
    {
    }

    /** @return list<Entry> */
    public function first(int $most): array
    {
        $found = [];
        foreach ($this->jobs() as $entry) {
            $found[] = $entry;
            if (count($found) === $most) {
                break; // before it looks at the next
            }
        }

        return $found;
    }

    /** @return Generator<Entry> who asks for the next one has taken those before */
    public function jobs(): Generator
    {
        [$urgent, $default, $others] = $this->withoutGroup();
        $isIdle = $urgent->first() === null && $default->first() === null;
        yield from $this->taken($urgent);
        $turns = [];
        do {
            $ahead = $this->jobs->line->after($this->nowUs);
            foreach ($this->jobs->line->until($this->nowUs) as [$us, $name]) {
                yield from $this->taken($default, $us);
                $this->jobs->gates->writeOff($name, $this->nowUs);
                $turn = new Turn($this->jobs->group($name, $this->nowUs));
                if ($turn->isOver()) {
                    $this->jobs->line->put($turn->group, $us);
                } else {
                    $turns[] = $turn;
                    yield from $turn->jobs($this->jobs->line->left($name));
                }
            }
        } while ($isIdle && $turns === [] && $this->bringsForward($ahead));
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

    /**
     * Puts right the groups that stand in the future: the clock may have been set back.
     *
     * @param list<string> $ahead
     *
     * @return bool true: it may be the turn of one
     */
    private function bringsForward(array $ahead): bool
    {
        foreach ($ahead as $name) {
            $this->jobs->gates->writeOff($name, $this->nowUs);
            $this->jobs->line->look($this->jobs->group($name, $this->nowUs), $this->nowUs);
        }

        return $this->jobs->line->until($this->nowUs) !== [];
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
            yield $entry;
        }
    }
}
