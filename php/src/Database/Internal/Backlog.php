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

    /** Seconds for which a queue waits that has failed: at first, and at most. */
    private const FIRST_PAUSE = 0.1;
    private const LONGEST_PAUSE = 5.0;

    /** Nanoseconds for which a row waits that Redis takes not, though it takes others. */
    private const REFUSED_FOR = 60_000_000_000;

    /** Further ones are tried with each batch. */
    private const MOST_REFUSED = 500;

    /** @var array<array-key, array{int, float}> when queues are tried again, by hrtime(), and after what pause */
    private array $later = [];

    /** @var array<string, int> when rows are tried again, by hrtime() */
    private array $refused = [];

    private int $looks = 0;

    private bool $foundSome = true;

    public function __construct(private readonly Connection $database, private readonly Dialect $dialect, private readonly float $after)
    {
    }

    /**
     * The oldest rows, locked until the transaction ends.
     *
     * @param callable(string, string, Throwable): void $refuse hears of a row that cannot be read: its id, what it is, and why
     *
     * @return array<array-key, non-empty-list<Row>> by queue, each in order
     */
    public function take(int $limit, callable $refuse): array
    {
        $now = $this->dialect->now();
        [$where, $values] = ["placed <= $now - " . (int) ($this->after * 1e6), []];
        if (!$this->foundSome && ++$this->looks % self::WHOLE_EVERY !== 0) {
            [$where, $values] = ["$where and id >= ?", [Row::idAt((int) (microtime(true) * 1000) - self::FLOOR_MS)]];
        }
        $this->refused = array_filter($this->refused, static fn (int $until): bool => hrtime(true) < $until);
        $waiting = array_filter(array_map(strval(...), array_keys($this->later)), $this->waitsFor(...));
        foreach (['queue' => array_values($waiting), 'id' => array_keys($this->refused)] as $column => $left) {
            if ($left !== []) {
                $where .= " and $column not in " . Dialect::places(count($left));
                $values = [...$values, ...$left];
            }
        }
        $columns = "id, queue, job, {$this->dialect->column('payload')}, options, due";
        $found = $this->database->rows("select $columns from " . Schema::OUTBOX . " where $where order by id limit $limit{$this->dialect->lockedForOne()}", $values);
        $this->foundSome = $found !== [];
        $rows = [];
        foreach ($found as $columns) {
            try {
                $row = Row::read($columns, $this->dialect);
                $rows[$row->queue][] = $row;
            } catch (Throwable $error) {
                $refuse((string) $columns['id'], "job $columns[job] of queue $columns[queue]", $error);
            }
        }

        return $rows;
    }

    /** @param list<string> $ids */
    public function delete(array $ids): void
    {
        foreach (array_chunk($ids, 500) as $chunk) {
            $this->database->execute('delete from ' . Schema::OUTBOX . ' where id in ' . Dialect::places(count($chunk)), $chunk);
        }
    }

    /**
     * @param non-empty-list<string> $ids
     *
     * @return list<string> those whose rows are there
     */
    public function present(array $ids): array
    {
        return array_column($this->database->rows('select id from ' . Schema::OUTBOX . ' where id in ' . Dialect::places(count($ids)), $ids), 'id');
    }

    public function waitsFor(string $queue): bool
    {
        return hrtime(true) < ($this->later[$queue][0] ?? 0);
    }

    /** The rows of a queue wait. @return float for so many seconds */
    public function postpone(string $queue): float
    {
        $pause = min(self::LONGEST_PAUSE, 2 * ($this->later[$queue][1] ?? self::FIRST_PAUSE / 2));
        $this->later[$queue] = [hrtime(true) + (int) ($pause * 1e9), $pause];

        return $pause;
    }

    public function resume(string $queue): void
    {
        unset($this->later[$queue]);
    }

    public function refuse(string $id): void
    {
        if (count($this->refused) < self::MOST_REFUSED) {
            $this->refused[$id] = hrtime(true) + self::REFUSED_FOR;
        }
    }
}
