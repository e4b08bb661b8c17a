<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use DelayQueue\Database\Connection;
use DelayQueue\Database\Schema;
use Throwable;

/**
 * The rows that a relay has to bring to Redis, but for those that have to wait.
 *
 * @internal
 */
final class Backlog
{
    /** A look for rows of the last ten minutes passes over the remains of deleted ones. Each 60th one looks at all. */
    private const FLOOR_MS = 600_000;
    private const WHOLE_EVERY = 60;

    /** Seconds for which a queue waits that has failed, at first and at most; and a row that Redis refuses though it takes others. */
    private const PAUSES = ['queue' => [0.1, 5.0], 'id' => [60.0, 60.0]];

    /** Further ones are tried with each batch. */
    private const MOST_WAITING = 10_000;

    /** Bytes of the payloads of a batch, beyond the first. */
    private const MOST_BYTES = 2 << 20;

    /** When queues and rows are tried again, by hrtime(), and after how many seconds. @var array{queue: array<array-key, array{int, float}>, id: array<array-key, array{int, float}>} */
    private array $later = ['queue' => [], 'id' => []];

    private int $looks = 0;

    private bool $foundSome = true;

    private bool $mayHaveMore = false;

    public function __construct(private readonly Connection $database, private readonly Dialect $dialect, private readonly float $after)
    {
    }

    /**
     * The oldest rows, locked until the transaction ends.
     *
     * @param callable(non-empty-list<string>, string, Throwable): void $refuse hears of a row that cannot be read: its id, what it is, and why
     *
     * @return array<array-key, non-empty-list<Row>> by queue, each in order
     */
    public function take(int $limit, callable $refuse): array
    {
        [$where, $values] = ["placed <= {$this->dialect->now()} - " . (int) ($this->after * 1e6), []];
        if (!$this->foundSome && ++$this->looks % self::WHOLE_EVERY !== 0) {
            [$where, $values] = ["$where and id >= ?", [Row::idAt((int) (microtime(true) * 1000) - self::FLOOR_MS)]];
        }
        $this->later['id'] = array_filter($this->later['id'], static fn (array $pause): bool => hrtime(true) < $pause[0]);
        foreach ($this->later as $column => $names) {
            $waiting = array_keys(array_filter($names, static fn (array $pause): bool => hrtime(true) < $pause[0]));
            if ($waiting !== []) {
                $where .= " and $column not in " . Dialect::places(count($waiting));
                $values = [...$values, ...array_map(strval(...), $waiting)];
            }
        }
        $columns = 'id, queue, job, options, due, length(payload) as bytes';
        $found = Schema::rows($this->database, "select $columns from " . Schema::OUTBOX . " where $where order by id limit $limit{$this->dialect->lockedForOne()}", $values);
        $fitting = self::fitting($found);
        [$this->foundSome, $this->mayHaveMore] = [$found !== [], count($found) === $limit || count($fitting) < count($found)];
        $payloads = $this->payloads(array_column($fitting, 'id'));
        $rows = [];
        foreach ($fitting as $columns) {
            try {
                $row = Row::read($columns + ['payload' => $payloads[$columns['id']] ?? null], $this->dialect);
                $rows[$row->queue][] = $row;
            } catch (Throwable $error) {
                $refuse([(string) $columns['id']], "job $columns[job] of queue $columns[queue]", $error);
            }
        }

        return $rows;
    }

    /** The last look has not seen all rows. */
    public function mayHaveMore(): bool
    {
        return $this->mayHaveMore;
    }

    /**
     * @param list<array<string, int|float|string|null>> $rows
     *
     * @return list<array<string, int|float|string|null>> the first, as many as can be sent in time
     */
    private static function fitting(array $rows): array
    {
        $bytes = 0;
        foreach ($rows as $count => $row) {
            $bytes += (int) $row['bytes'];
            if ($count > 0 && $bytes > self::MOST_BYTES) {
                return array_slice($rows, 0, $count);
            }
        }

        return $rows;
    }

    /**
     * @param list<string> $ids
     *
     * @return array<string, string|null> by id
     */
    private function payloads(array $ids): array
    {
        $sql = "select id, {$this->dialect->column('payload')} from " . Schema::OUTBOX
            . ' where id in ' . Dialect::places(count($ids)) . Dialect::ALL;

        return $ids === [] ? [] : array_column($this->database->rows($sql, $ids), 'payload', 'id');
    }

    /** @param list<string> $ids */
    public function delete(array $ids): void
    {
        $ids === [] || $this->database->execute(...$this->dialect->delete($ids));
    }

    /**
     * @param non-empty-list<string> $ids
     *
     * @return list<string> those whose rows are there
     */
    public function present(array $ids): array
    {
        $sql = 'select id from ' . Schema::OUTBOX . ' where id in ' . Dialect::places(count($ids)) . Dialect::ALL;

        return array_column($this->database->rows($sql, $ids), 'id');
    }

    public function waitsFor(string $queue): bool
    {
        return hrtime(true) < ($this->later['queue'][$queue][0] ?? 0);
    }

    /**
     * The rows of this queue, or this row, are tried again later.
     *
     * @param 'queue'|'id' $column
     *
     * @return float after so many seconds
     */
    public function postpone(string $column, string $name): float
    {
        $names = &$this->later[$column];
        [$first, $most] = self::PAUSES[$column];
        $pause = min($most, 2 * ($names[$name][1] ?? $first / 2));
        if (isset($names[$name]) || count($names) < self::MOST_WAITING) {
            $names[$name] = [hrtime(true) + (int) ($pause * 1e9), $pause];
        }

        return $pause;
    }

    /**
     * Redis has them.
     *
     * @param list<string> $ids rows of this queue
     */
    public function settle(string $queue, array $ids): void
    {
        unset($this->later['queue'][$queue]);
        $this->later['id'] = array_diff_key($this->later['id'], array_flip($ids));
    }
}
