<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Faults\Support;

use PDO;
use PHPUnit\Framework\Assert;

/** Counts the orders of a shop and the runs of their jobs. The table has the orders that were committed, the logs of the workers have the runs. */
final class ShopAccount
{
    /** How many orders were committed. */
    public readonly int $orders;

    /** How many effects there are of orders that have one already. */
    public readonly int $repeated;

    /** @var list<string> committed, and their jobs have never run; in a shop that remembers, their jobs have had no effect */
    public array $lost = [];

    /** @var list<string> of transactions that were rolled back, and their jobs have run */
    public array $invented = [];

    /** @var list<string> that had a first run more than once: two jobs of one row */
    public array $second = [];

    /** @var list<string> run before their moment */
    public array $early = [];

    /** Later runs, because the workers of the first ones were killed. */
    public int $again = 0;

    public int $runs = 0;

    /**
     * @param array<string, int> $kills how many processes of each kind were killed
     * @param array<string, int> $losses of Redis
     * @param array<string, int> $left what is still in the tables and in Redis
     * @param list<string> $findings errors of doctor()
     */
    public function __construct(
        PDO $pdo,
        ShopSettings $settings,
        private readonly array $kills,
        private readonly array $losses,
        private readonly array $left,
        private readonly array $findings,
        private readonly float $seconds,
    ) {
        $orders = $first = [];
        foreach ($pdo->query('SELECT slot, n, token, earliest FROM orders') as $row) {
            $orders["$row[slot]-$row[n]"] = [$row['token'], (int) $row['earliest']];
        }
        foreach (glob("$settings->folder/runs.*") as $file) {
            foreach (file($file) as $line) {
                [$slot, $n, $token, $run, $reserved] = explode(' ', trim($line));
                $order = "$slot-$n";
                $this->runs++;
                if (($orders[$order][0] ?? null) !== $token) {
                    $this->invented[] = $order;
                    continue;
                }
                $reserved < $orders[$order][1] && $this->early[] = $order;
                $first[$order] ??= 0;
                $run === '1' ? $first[$order]++ : $this->again++;
            }
        }
        $this->orders = count($orders);
        $effects = [];
        foreach ($pdo->query('SELECT slot, n FROM effects') as $row) {
            $effects["$row[slot]-$row[n]"] = ($effects["$row[slot]-$row[n]"] ?? 0) + 1;
        }
        $this->repeated = array_sum($effects) - count($effects);
        $this->lost = array_keys(array_diff_key($orders, $settings->journal ? $effects : $first));
        $this->second = array_keys(array_filter($first, static fn (int $times): bool => $times > 1));
    }

    /** Each order has its one job. */
    public function assertExact(int $orders): void
    {
        $this->assertWhole($orders);
        Assert::assertSame([], array_slice($this->second, 0, 5), "second jobs: $this");
    }

    /** Each order has its one effect. */
    public function assertWhole(int $orders): void
    {
        Assert::assertSame($orders, $this->orders, "$this");
        foreach (['lost' => $this->lost, 'rolled back, and run' => $this->invented, 'early' => $this->early] as $what => $which) {
            Assert::assertSame([], array_slice($which, 0, 5), "$what: $this");
        }
        Assert::assertSame(0, $this->repeated, "$this");
        Assert::assertSame([], array_filter($this->left), "still there: $this");
        Assert::assertSame([], $this->findings, "$this");
    }

    public function __toString(): string
    {
        $count = static fn (array $words): string => implode(', ', array_map(static fn (string $what, int $number): string => "$number $what", array_keys($words), $words));

        return sprintf(
            '%d orders in %.1f s; lost %d, second jobs %d%s, repeated effects %d, early %d, of rolled-back transactions %d; run again %d; killed: %s; jobs lost: %s; left: %s',
            $this->orders,
            $this->seconds,
            count($this->lost),
            count($this->second),
            $this->second === [] ? '' : ' (' . implode(', ', array_slice($this->second, 0, 8)) . (count($this->second) > 8 ? ' …' : '') . ')',
            $this->repeated,
            count($this->early),
            count($this->invented),
            $this->again,
            $count($this->kills),
            $count($this->losses),
            $count($this->left),
        );
    }
}
