<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use PHPUnit\Framework\Assert;

/** The holders of the jobs of groups, and their times, from the log of the workers. Its lines are in the order in which they were written. */
final class Turns
{
    /** @var array<string, int> how many jobs of each group were in hand at once, at most */
    public array $most = [];

    /** @var list<string> jobs of ordered groups that began before an earlier one had ended, or after a later one */
    public array $outOfOrder = [];

    public int $starts = 0;

    public function __construct(string $runs)
    {
        $active = $last = [];
        foreach (new \SplFileObject($runs) as $line) {
            $words = explode(' ', trim((string) $line)) + ['', '', '', ''];
            match ($words[0]) {
                'start' => $this->start($words[1], $words[2], $words[3], $active, $last),
                'end' => $active = $this->without($active, static fn (array $run) => $run['id'] === $words[1]),
                'killed' => $active = $this->without($active, static fn (array $run) => $run['pid'] === $words[1]),
                default => null,
            };
        }
    }

    public function assertWithinLimits(): void
    {
        Assert::assertGreaterThan(100, $this->starts);
        Assert::assertSame([], array_slice($this->outOfOrder, 0, 5), 'out of order');
        foreach ($this->most as $group => $most) {
            Assert::assertLessThanOrEqual(str_contains($group, 'ordered') ? 1 : 2, $most, "jobs of $group at once");
        }
    }

    /**
     * @param array<string, list<array{id: string, pid: string}>> $active
     * @param array<string, int> $last
     */
    private function start(string $id, string $group, string $pid, array &$active, array &$last): void
    {
        $this->starts++;
        $active[$group][] = ['id' => $id, 'pid' => $pid];
        $this->most[$group] = max($this->most[$group] ?? 0, count($active[$group]));
        if (str_contains($group, 'ordered')) {
            $number = (int) substr((string) strrchr($id, '-'), 1);
            if ($number < ($last[$group] ?? 0)) {
                $this->outOfOrder[] = "$id after {$last[$group]}";
            }
            $last[$group] = $number;
        }
    }

    /**
     * @param array<string, list<array{id: string, pid: string}>> $active
     * @param callable(array{id: string, pid: string}): bool $hasEnded
     * @return array<string, list<array{id: string, pid: string}>>
     */
    private function without(array $active, callable $hasEnded): array
    {
        return array_map(static fn (array $runs) => array_values(array_filter($runs, static fn (array $run) => !$hasEnded($run))), $active);
    }
}
