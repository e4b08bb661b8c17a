<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use DelayQueue\Database\Connection;
use DelayQueue\Database\Schema;
use Throwable;

/**
 * The table of the outbox, and the copies in that of the journal, as an Outbox writes them.
 *
 * @internal
 */
final class Table
{
    /** Ids of one statement. */
    private const CHUNK = 500;

    private readonly Dialect $dialect;

    public function __construct(private readonly Connection $database, private readonly bool $journal)
    {
        $this->dialect = Dialect::from($database->driver());
    }

    /** @param list<Row> $rows */
    public function insert(array $rows): void
    {
        try {
            foreach (Row::chunks($rows) as $chunk) {
                $this->database->execute(...Row::insert($chunk, $this->dialect));
                $jobs = array_values(array_filter($chunk, static fn (Row $row): bool => !$row->isCancellation()));
                $this->journal && $jobs !== [] && $this->database->execute(...Row::copy($jobs, $this->dialect));
            }
        } catch (Throwable $error) {
            throw Schema::explained($error);
        }
    }

    /**
     * The jobs whose rows wait. A scan that locks would stop producers and workers, so it looks without locks.
     *
     * @param non-empty-list<string> $ids
     *
     * @return array<string, string> by the ids of the rows
     */
    public function waiting(string $queue, array $ids): array
    {
        $sql = 'select id, job from ' . Schema::OUTBOX . ' where queue = ? and job in ' . Dialect::places(count($ids))
            . " and options not like '{\"cancel\"%'" . Dialect::ALL;

        return array_column(Schema::rows($this->database, $sql, [$queue, ...$ids]), 'job', 'id');
    }

    /** @return list<string> payloads of the rows that wait of one job */
    public function payloads(string $queue, string $id): array
    {
        $ids = array_keys($this->waiting($queue, [$id]));
        if ($ids === []) {
            return [];
        }
        $column = $this->dialect->column('payload');
        $sql = "select $column from " . Schema::OUTBOX . ' where id in ' . Dialect::places(count($ids)) . Dialect::ALL;
        $found = array_column(Schema::rows($this->database, $sql, $ids), 'payload');

        return array_map($this->dialect->read(...), $found);
    }

    /**
     * @param list<string> $rows ids
     *
     * @return int<0, max> how many were there
     */
    public function delete(array $rows): int
    {
        $deleted = 0;
        foreach (array_chunk($rows, self::CHUNK) as $chunk) {
            $deleted += $this->database->execute(...$this->dialect->delete($chunk));
        }

        return $deleted;
    }

    /**
     * Notes in the journal that jobs are cancelled, but for one that a handler has in Inbox::once(): that is left to it.
     *
     * @param non-empty-list<string> $ids
     */
    public function endCopies(string $queue, array $ids): void
    {
        $open = 'select job, made from ' . Schema::JOBS . ' where queue = ? and job in ' . Dialect::places(count($ids))
            . ' and ended is null' . Dialect::ALL;
        foreach ($this->journal ? $this->database->rows($open, [$queue, ...$ids]) : [] as $job) {
            [$one, $key] = [' where queue = ? and job = ? and made = ? and ended is null', [$queue, (string) $job['job'], (int) $job['made']]];
            if ($this->database->rows('select made from ' . Schema::JOBS . $one . $this->dialect->lockedForOne(), $key) !== []) {
                $this->database->execute('update ' . Schema::JOBS . " set state = 'cancelled', ended = {$this->dialect->now()}$one", $key);
            }
        }
    }

    /**
     * @param list<string> $rows ids
     *
     * @return array{list<string>, string|null} those that are there, in order, and the word of the database
     */
    public function committed(array $rows): array
    {
        [$there, $source] = [[], null];
        foreach (array_chunk($rows, self::CHUNK) as $ids) {
            $sql = 'select o.id, s.source from ' . Schema::OUTBOX . ' o, ' . Schema::SOURCE . ' s where o.id in '
                . Dialect::places(count($ids)) . ' order by o.id' . Dialect::ALL;
            foreach ($this->database->rows($sql, $ids) as $row) {
                [$there[], $source] = [(string) $row['id'], (string) $row['source']];
            }
        }

        return [$there, $source];
    }

    /** @return array{rows: int, oldest: float|null} how many rows, and the age of the oldest in seconds */
    public function size(): array
    {
        [$row] = Schema::rows($this->database, "select count(*) as count, {$this->dialect->now()} - min(placed) as age from " . Schema::OUTBOX);

        return ['rows' => (int) $row['count'], 'oldest' => ($row['age'] ?? '') === '' ? null : max(0, (int) $row['age']) / 1e6];
    }
}
