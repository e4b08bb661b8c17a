<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

/**
 * The groups in the order of their turns: each stands in line since the moment from which it may be its turn, as one, however many jobs it has.
 * That moment may be too early, which a look puts right, and is never too late. Other than on Redis,
 * a group of some weight that runs empty within its turn leaves at once, and not with the next look.
 *
 * @internal
 */
final class Line
{
    /** @var array<array-key, int> */
    private array $moments = [];

    /** @var array<array-key, int> jobs that a group had in this turn, if it is not over */
    private array $used = [];

    public function __construct(private readonly Gates $gates)
    {
    }

    public function isEmpty(): bool
    {
        return $this->moments === [];
    }

    public function momentUs(string $group): ?int
    {
        return $this->moments[$group] ?? null;
    }

    /** @return list<array{int, string}> the moments and names of those whose turn it may be, in their order */
    public function until(int $nowUs): array
    {
        $turns = [];
        foreach ($this->moments as $name => $us) {
            if ($us <= $nowUs) {
                $turns[] = [$us, (string) $name];
            }
        }
        usort($turns, static fn (array $a, array $b): int => $a[0] <=> $b[0] ?: strcmp($a[1], $b[1]));

        return $turns;
    }

    /** @return list<string> names of those whose turn is later */
    public function after(int $nowUs): array
    {
        return array_map(strval(...), array_keys(array_filter($this->moments, static fn (int $us): bool => $us > $nowUs)));
    }

    /** A job of it may be served from then on. */
    public function come(string $group, int $us): void
    {
        $this->moments[$group] = min($this->moments[$group] ?? $us, $us);
    }

    /** Puts right a group of which nothing was served: as long as it is closed, nobody looks at its jobs. */
    public function put(Group $group, int $sinceUs): void
    {
        $this->stand($group, $group->opensUs() ?? $group->momentUs(), $sinceUs);
    }

    /** Puts right a group at whose jobs somebody looks, closed or not: one without any leaves the line. */
    public function look(Group $group, int $sinceUs): void
    {
        $opensUs = $group->opensUs();
        $this->stand($group, $opensUs === null ? $group->momentUs() : max($opensUs, $group->dueUs()), $sinceUs);
    }

    public function forget(): void
    {
        [$this->moments, $this->used] = [[], []];
    }

    /** It stands there since this moment, or since it can have a turn, and not while it can have none. */
    private function stand(Group $group, int $us, int $sinceUs): void
    {
        if ($us === Gates::NEVER) {
            unset($this->moments[$group->name], $this->used[$group->name]);
        } else {
            $this->moments[$group->name] = max($sinceUs, $us);
        }
    }

    /** It has had so many jobs: it goes to the end of the line, unless it may have more of them in this turn. */
    public function serve(Group $group, int $many, int $nowUs): void
    {
        $name = $group->name;
        $used = ($this->used[$name] ?? 0) + $many;
        $sinceUs = $nowUs;
        unset($this->used[$name]);
        if ($used < $this->gates->weight($name)) {
            [$this->used[$name], $sinceUs] = [$used, $this->moments[$name] ?? $nowUs];
        }
        $this->stand($group, $group->momentUs(), $sinceUs);
    }

    /** The next job that it gets is the first of a turn. */
    public function endTurn(string $group): void
    {
        unset($this->used[$group]);
    }

    /** How many jobs it may have in this turn. */
    public function left(string $group): int
    {
        $weight = $this->gates->weight($group);

        return $weight - min($this->used[$group] ?? 0, $weight - 1);
    }
}
