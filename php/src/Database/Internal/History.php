<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use DelayQueue\Database\Schema;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use ValueError;

/**
 * Rows of delayqueue_jobs, as inbox and journal write them. Those that are done or cancelled stay so; `gone` only says that nobody knows more. Of others
 * the last run counts.
 *
 * @internal
 */
final class History
{
    /** Bytes of the column runs, and of one of its 20 lines, which are ASCII. */
    public const LONGEST = 8000;
    public const LONGEST_RUN = 400;

    /**
     * @param int $began microseconds
     *
     * @return array<string, int|string|null> values by their columns
     */
    public static function row(JobInterface $job, string $state, int $began, ?int $ended): array
    {
        if (preg_match('//u', $job->id) !== 1) {
            throw new ValueError('the id of a job must be UTF-8, since the database stores it as text');
        }

        return [
            'queue' => $job->queue, 'job' => $job->id, 'made' => (int) round($job->createdAt * 1000), 'due' => (int) round($job->dueAt * 1e6),
            'payload' => null, 'options' => null, 'attempts' => $job->attempts, 'began' => $began, 'ended' => $ended,
            'worker' => gethostname() . ':' . getmypid(), 'error' => null, 'runs' => '', 'state' => $state,
        ];
    }

    /**
     * Makes one statement of all of them.
     *
     * @param non-empty-list<array<string, int|string|null>> $rows those of row(); `due` of one that is released is a delay
     * @param bool $onlyOpen no change of a row that is done or cancelled; MySQL cannot say so
     *
     * @return array{string, list<int|string|null>} SQL and values
     */
    public static function upsert(array $rows, Dialect $dialect, bool $onlyOpen = false): array
    {
        [$table, $columns, $isMySql] = [Schema::JOBS, array_keys($rows[0]), $dialect === Dialect::MySql];
        $new = static fn (string $column): string => $isMySql ? "values($column)" : "excluded.$column";
        $isOver = "$table.state in ('done', 'cancelled')";
        // A worker may write late, of a run before the one that is known. The clocks of workers may differ: an end is one all the same.
        $isKept = "($isOver or {$new('ended')} is null and coalesce($table.began, 0) > {$new('began')})";
        $runs = sprintf($isMySql ? 'concat(%s, %s)' : '%s || %s', "coalesce({$new('runs')}, '')", "coalesce($table.runs, '')");
        $set = [
            'payload' => "coalesce({$new('payload')}, $table.payload)",
            'options' => "coalesce($table.options, {$new('options')})",
            'runs' => "substr($runs, 1, " . self::LONGEST . ')',
            'due' => "case when {$new('state')} = 'released' and not $isKept then {$new('due')} else coalesce($table.due, {$new('due')}) end",
        ];
        // MySQL looks at values that it has set before: the state is last, and where `began` was kept or set, $isKept says the same.
        foreach (['attempts', 'began', 'ended', 'worker', 'error', 'state'] as $column) {
            $set[$column] = "case when $isKept then $table.$column else {$new($column)} end";
        }
        $places = static fn (array $row): string => '(' . implode(', ', array_map(static fn (string $column): string => match (true) {
            $column === 'payload' => $dialect->bytes(),
            $column === 'due' && $row['state'] === 'released' => "{$dialect->now()} + ?",
            default => '?',
        }, $columns)) . ')';
        $bound = static fn (array $row): array => array_values(array_replace($row, ['payload' => $row['payload'] === null ? null : $dialect->bound($row['payload'])]));
        $sql = "insert into $table (" . implode(', ', $columns) . ') values ' . implode(', ', array_map($places, $rows))
            . ($isMySql ? ' on duplicate key update ' : ' on conflict (queue, job, made) do update set ')
            . implode(', ', array_map(static fn (string $column, string $value): string => "$column = $value", array_keys($set), $set))
            . ($onlyOpen && !$isMySql ? " where not $isOver" : '');

        return [$sql, array_merge(...array_map($bound, $rows))];
    }

    public static function isIn(QueueInterface $queue, string $job, int $made): bool
    {
        $found = $queue->peek($job);

        return $found !== null && (int) round($found->createdAt * 1000) === $made;
    }
}
