<?php

declare(strict_types=1);

namespace DelayQueue\InMemory;

/**
 * A queue keeps these of jobs, whatever became of them: receipts of jobs that arrived once, and ids that are taken for some time.
 *
 * @internal
 */
final class Receipts
{
    /** @var array<array-key, int> by their names: when they were given */
    private array $given = [];

    /** @var array<array-key, int> until when these ids are taken */
    private array $taken = [];

    public function has(string $receipt): bool
    {
        return isset($this->given[$receipt]);
    }

    public function give(string $receipt, int $nowUs): void
    {
        $this->given[$receipt] = $nowUs;
    }

    /** @return list<string> those that were given until then, oldest first */
    public function given(int $untilUs, string $prefix, int $limit): array
    {
        $names = array_column(self::inOrder($this->given), 'name');
        $found = array_filter($names, fn (string $name): bool => $this->given[$name] <= $untilUs && str_starts_with($name, $prefix));

        return array_slice($found, 0, $limit);
    }

    public function isTaken(string $id, int $nowUs): bool
    {
        return ($this->taken[$id] ?? 0) > $nowUs;
    }

    /** Ids that are free again are dropped. */
    public function take(string $id, int $untilUs, int $nowUs): void
    {
        $this->taken = self::later($this->taken, $nowUs);
        $this->taken[$id] = $untilUs;
    }

    /** @return list<array{id: string, until: float}> the soonest free first */
    public function taken(int $nowUs): array
    {
        $taken = self::inOrder(self::later($this->taken, $nowUs));

        return array_map(static fn (array $one): array => ['id' => $one['name'], 'until' => $one['us'] / 1_000_000], $taken);
    }

    /**
     * @param list<string> $names
     *
     * @return int how many receipts and ids there were
     */
    public function forget(array $names): int
    {
        $before = count($this->given) + count($this->taken);
        foreach ($names as $name) {
            unset($this->given[$name], $this->taken[$name]);
        }

        return $before - count($this->given) - count($this->taken);
    }

    public function isEmpty(int $nowUs): bool
    {
        return $this->given === [] && self::later($this->taken, $nowUs) === [];
    }

    /**
     * @param array<array-key, int> $moments
     *
     * @return array<array-key, int>
     */
    private static function later(array $moments, int $nowUs): array
    {
        return array_filter($moments, static fn (int $us): bool => $us > $nowUs);
    }

    /**
     * @param array<array-key, int> $moments
     *
     * @return list<array{name: string, us: int}>
     */
    private static function inOrder(array $moments): array
    {
        $found = array_map(static fn (int|string $name, int $us): array => ['name' => (string) $name, 'us' => $us], array_keys($moments), $moments);
        usort($found, static fn (array $a, array $b): int => $a['us'] <=> $b['us'] ?: strcmp($a['name'], $b['name']));

        return $found;
    }
}
