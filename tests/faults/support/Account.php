<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use DelayQueue\Stats;
use PHPUnit\Framework\Assert;

/** Counts pushes and runs of each job, from the logs of producers and workers. */
final class Account
{
    /** @var array<string, string> the last word on each push: try (its process was killed in it), ok, ambiguous, refused */
    public array $pushes = [];

    /** @var array<string, int> how often each job was executed */
    public array $runs = [];

    /** @var list<string> accepted, and neither executed nor there any more */
    public array $lost;

    /** @var list<string> executed, though nobody has pushed them, or Redis has refused to take them */
    public array $invented;

    /** @var list<string> executed before their moment */
    public array $early = [];

    /** How many executions there were beyond one a job and one more for each that failed on purpose. */
    public int $again = 0;

    /** How many of these were of a job that a worker had acknowledged before: the acknowledgement was lost. */
    public int $undone = 0;

    /** How many acknowledgements ended in doubt or too late, but for those of jobs that were cancelled meanwhile. */
    public int $unsure = 0;

    /** @var list<int> microseconds from due to reserved, of first attempts, in order */
    private array $late = [];

    /** @var array<string, int> what users were told, and how often */
    public array $errors = [];

    /**
     * @param list<string> $left ids of jobs that are still there
     * @param list<string> $findings errors of doctor()
     */
    public function __construct(
        string $pushes,
        string $runs,
        public readonly array $left,
        public readonly array $findings,
        public readonly Stats $stats,
        public readonly float $seconds,
        public readonly float $drained,
    ) {
        $cancelled = [];
        foreach (new \SplFileObject($pushes) as $line) {
            [$verb, $id] = explode(' ', trim((string) $line), 2) + ['', ''];
            match ($verb) {
                '' => null,
                'cancel' => $cancelled[$id] = true,
                'error' => $this->hear($id),
                default => $this->pushes[$id] = $verb,
            };
        }
        $failed = $done = [];
        foreach (new \SplFileObject($runs) as $line) {
            $words = explode(' ', trim((string) $line), 4) + ['', '', '', ''];
            $id = $words[1];
            match ($words[0]) {
                'run' => $this->run($id, (int) $words[2], (int) $words[3], isset($done[$id])),
                'early' => $this->early[] = $id,
                'fail' => $failed[$id] = true,
                'done' => $done[$id] = true,
                'lost', 'unsure' => $this->unsure += isset($cancelled[$id]) ? 0 : 1,
                'error' => $this->hear(implode(' ', array_slice($words, 1))),
                default => null,
            };
        }
        $this->again = array_sum($this->runs) - count($this->runs) - count(array_intersect_key($failed, $this->runs));
        $accepted = array_keys($this->pushes, 'ok', true);
        $this->lost = array_values(array_diff($accepted, array_keys($this->runs), $left, array_keys($cancelled)));
        $possible = array_filter($this->pushes, static fn (string $became) => $became !== 'refused');
        $this->invented = array_values(array_diff(array_keys($this->runs), array_keys($possible)));
        sort($this->late);
    }

    public function count(string $became): int
    {
        return count(array_keys($this->pushes, $became, true));
    }

    /** So many milliseconds after they fell due were this part of the jobs reserved. */
    public function late(float $part): float
    {
        return ($this->late[(int) floor($part * (count($this->late) - 1))] ?? 0) / 1000;
    }

    /** Holds after every fault. Only the caller can judge the number of jobs that Redis itself has lost. */
    public function assertSound(int $most = PHP_INT_MAX): void
    {
        $facts = "$this";
        Assert::assertGreaterThan(100, $this->count('ok'), $facts);
        Assert::assertSame([], array_slice($this->invented, 0, 5), "executed and never accepted: $facts");
        Assert::assertSame([], array_slice($this->early, 0, 5), "executed before their moment: $facts");
        Assert::assertSame([], array_slice($this->left, 0, 5), "still there after {$this->drained} s: $facts");
        Assert::assertSame([], $this->findings, $facts);
        Assert::assertLessThanOrEqual($most, $this->again, "executed again: $facts");
    }

    /** As assertSound(), and nothing is lost. */
    public function assertWhole(int $most = PHP_INT_MAX): void
    {
        Assert::assertSame([], array_slice($this->lost, 0, 5), "accepted and lost: $this");
        $this->assertSound($most);
    }

    public function __toString(): string
    {
        arsort($this->errors);
        $errors = implode('', array_map(
            static fn (string $error, int $times) => "\n  $times x $error",
            array_keys(array_slice($this->errors, 0, 6)),
            array_slice($this->errors, 0, 6),
        ));

        return sprintf(
            '%d jobs accepted (%.0f/s), %d in doubt, %d refused, %d executed, %d again (%d of them acknowledged before; %d acknowledgements '
            . 'in doubt or late), lost %d, lateness p50 %.1f ms, p99 %.1f ms%s',
            $this->count('ok'),
            $this->count('ok') / max(0.001, $this->seconds),
            $this->count('ambiguous') + $this->count('try'),
            $this->count('refused'),
            count($this->runs),
            $this->again,
            $this->undone,
            $this->unsure,
            count($this->lost),
            $this->late(0.5),
            $this->late(0.99),
            $errors,
        );
    }

    private function run(string $id, int $attempt, int $late, bool $wasDone): void
    {
        $this->runs[$id] = ($this->runs[$id] ?? 0) + 1;
        $this->undone += $wasDone ? 1 : 0;
        if ($attempt === 1) {
            $this->late[] = $late;
        }
    }

    /** Errors that differ in numbers and names only count as one. */
    private function hear(string $error): void
    {
        $kind = (string) preg_replace(["/'[^']*'/", '/\d+/'], ["'…'", 'N'], $error);
        $this->errors[$kind] = ($this->errors[$kind] ?? 0) + 1;
    }
}
