<?php

declare(strict_types=1);

use DelayQueue\Database\Outbox;
use DelayQueue\State;

/** The account of all orders, from the shop's database and the queue. */
final class Account
{
    private readonly PDO $db;

    public function __construct(string $database, private readonly DelayQueue $queue)
    {
        $this->db = new PDO("sqlite:$database");
        $this->db->exec('PRAGMA busy_timeout = 10000');
    }

    /** One line: orders and jobs by state, lateness so far. */
    public function line(): string
    {
        ['p50' => $p50, 'p99' => $p99] = $this->lateness('');
        $orders = $jobs = [];
        foreach (['open', 'paid', 'closed'] as $state) {
            $orders[] = sprintf('%2d %s', $this->number('SELECT COUNT(*) FROM orders WHERE state = ?', $state), $state);
        }
        foreach (State::cases() as $state) {
            $jobs[] = sprintf('%2d %s', $this->queue->count($state), $state->value);
        }

        return sprintf('orders: %s | jobs: %s | late by p50 %.0f ms, p99 %.0f ms', implode(' ', $orders), implode(' ', $jobs), $p50, $p99);
    }

    public function isSettled(): bool
    {
        return $this->number("SELECT COUNT(*) FROM orders WHERE state = 'open'") === 0.0 && count($this->queue) === 0 && $this->rows() === 0;
    }

    /**
     * @param string|null $held the order in the hands of the worker that was killed
     * @param string|null $replacement the process that took that worker's place
     *
     * @return array<string, bool|null> each statement with whether it is true; null: only to be told
     */
    public function statements(int $expected, ?string $held, ?string $replacement): array
    {
        $orders = $this->number('SELECT COUNT(*) FROM orders');
        $paid = $this->number("SELECT COUNT(*) FROM orders WHERE state = 'paid'");
        $closed = $this->number("SELECT COUNT(*) FROM orders WHERE state = 'closed'");
        $early = $this->number("SELECT COUNT(*) FROM orders WHERE state = 'closed' AND settled_at < placed_at + pay_within");
        // A piece leaves the stock with each order and comes back with each closing: a second closing would show.
        $missing = $this->number('SELECT 1000 - pieces FROM stock');
        $heldLate = $held === null ? null : $this->heldLateness($held);
        $stats = $this->queue->stats();
        ['p50' => $p50, 'p99' => $p99] = $this->lateness($held ?? '');
        $deliveries = $stats->lateness(sinceStart: true)['count'];

        return [
            "$orders orders of $expected arrived" => (int) $orders === $expected,
            "$paid paid and $closed closed make all of them" => $paid + $closed === $orders && $paid > 0 && $closed > 0,
            "$early closed before their time" => $early === 0.0,
            sprintf('the orders were closed late by p50 %.1f ms, p99 %.1f ms, the one of the killed worker left out', $p50, $p99) => null,
            "$missing pieces left the stock for $paid paid orders: no order was closed twice" => $missing === $paid,
            sprintf('the order of the killed worker (%s) was closed by another, %.0f ms late', $held ?? 'none', $heldLate)
                => $heldLate !== null,
            'the killed worker was replaced by process ' . ($replacement ?? 'none') => $replacement !== null,
            "$stats->pushed jobs were pushed, $stats->acked acknowledged, $stats->cancelled cancelled"
                => $stats->pushed === $expected && $stats->acked + $stats->cancelled === $expected,
            "$deliveries deliveries, of which $stats->timedOut ran out of its lease" => $stats->timedOut >= 1 && $deliveries >= $closed + 1,
            count($this->queue) . ' jobs are left in the queue, ' . $this->rows() . ' rows in the outbox' => count($this->queue) + $this->rows() === 0,
        ];
    }

    /** @return array<string, bool> as of statements(): the reports of a schedule, whose ids end in their moments */
    public function reports(string $file, int $seconds): array
    {
        $moment = static fn (string $id): float => (float) (new DateTime(substr($id, strpos($id, '@') + 1)))->format('U.v');
        $moments = array_map($moment, file($file, FILE_IGNORE_NEW_LINES) ?: []);
        sort($moments);
        $last = count($moments) - 1;
        $areEven = $last >= 2 && array_unique($moments) === $moments && round($moments[$last] - $moments[0], 3) === (float) ($last * $seconds);

        return [count($moments) . " reports of the schedule, one every $seconds s, none twice" => $areEven];
    }

    private function rows(): int
    {
        return (new Outbox($this->db))->waiting()['rows'];
    }

    /** Milliseconds from the end of the time to pay to the closing; null if the order is not closed. */
    private function heldLateness(string $held): ?float
    {
        return $this->latenesses("= '" . (int) substr($held, strlen('order-')) . "'")[0] ?? null;
    }

    /**
     * In milliseconds, over all closed orders but one.
     *
     * @return array{p50: float, p99: float}
     */
    private function lateness(string $but): array
    {
        $sorted = $this->latenesses('<> ' . (int) substr($but, strlen('order-')));
        $at = static fn (float $share): float => $sorted[max(0, (int) ceil($share * count($sorted)) - 1)] ?? 0.0;

        return ['p50' => $at(0.5), 'p99' => $at(0.99)];
    }

    /** @return list<float> ascending */
    private function latenesses(string $number): array
    {
        return array_map(floatval(...), $this->db->query(
            "SELECT (settled_at - placed_at - pay_within) * 1000 AS late FROM orders
             WHERE state = 'closed' AND number $number ORDER BY late",
        )->fetchAll(PDO::FETCH_COLUMN));
    }

    private function number(string $sql, string ...$values): float
    {
        $statement = $this->db->prepare($sql);
        $statement->execute($values);

        return (float) $statement->fetchColumn();
    }
}
