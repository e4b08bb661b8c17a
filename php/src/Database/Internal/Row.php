<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use Closure;
use DateTimeImmutable;
use DelayQueue\Backoff;
use DelayQueue\Internal\Moment;
use DelayQueue\OnDuplicate;
use DelayQueue\PreparedJob;
use DelayQueue\QueueSettings;
use UnexpectedValueException;

/**
 * A row of the outbox: a job that is to be pushed, or the cancellation of one. Its id is a UUIDv7, whose milliseconds are the job's createdAt.
 *
 * @internal
 */
final class Row
{
    private function __construct(
        public readonly string $id,
        public readonly string $queue,
        public readonly string $job,
        public readonly string $body,
        /** All that a push has beside payload, id and time, by the names of the options; of a cancellation `cancel`. */
        public readonly array $options,
        /** Microseconds: the delay of one that is to be inserted; since 1970 for one with the option moment, and for one that was read. */
        public readonly int $dueUs,
    ) {
    }

    /** @param string $id a UUIDv7 */
    public static function ofJob(string $id, string $queue, PreparedJob $job, QueueSettings $settings): self
    {
        $options = [
            'priority' => $job->priority,
            'ttr' => $job->ttr,
            'maxAttempts' => $job->maxAttempts,
            'backoff' => (string) $job->backoff,
            'timeout' => $job->timeout,
            'headers' => $job->headers,
            'replace' => $job->onDuplicate === OnDuplicate::Replace,
            'extras' => $job->extras === null ? null : base64_encode($job->extras),
            'sealed' => $settings->isSealed,
            'partitions' => $settings->partitions === 1 ? null : $settings->partitions,
            'moment' => $job->dueAt !== null,
            // For whoever reads the table: a push has it in the extras.
            'group' => $job->group,
        ];
        $due = (int) round(($job->dueAt ?? $job->delay) * 1e6);

        return new self($id, $queue, $job->id, $job->body, array_filter($options, static fn (mixed $option): bool => !in_array($option, [null, false, []], true)), $due);
    }

    /** @param bool $hasDeleted the row of the job was there */
    public static function ofCancellation(string $id, string $queue, string $job, bool $hasDeleted): self
    {
        return new self($id, $queue, $job, '', ['cancel' => true] + ($hasDeleted ? ['deleted' => true] : []), 0);
    }

    /**
     * @param array<string, int|float|string|null> $columns
     *
     * @throws UnexpectedValueException when it is none of this version
     */
    public static function read(array $columns, Dialect $dialect): self
    {
        $options = json_decode((string) $columns['options'], true);
        // MySQL gives null for what is larger than its packets.
        if (!is_array($options) || !is_string($columns['payload'])) {
            throw new UnexpectedValueException(is_array($options) ? 'its payload cannot be read' : 'its options are not JSON');
        }

        return new self((string) $columns['id'], (string) $columns['queue'], (string) $columns['job'], $dialect->read($columns['payload']), $options, (int) $columns['due']);
    }

    /** It takes the place of a job of its id that waits. */
    public function replacing(): self
    {
        return new self($this->id, $this->queue, $this->job, $this->body, ['replace' => true] + $this->options, $this->dueUs);
    }

    public function isCancellation(): bool
    {
        return isset($this->options['cancel']);
    }

    public function isReplacing(): bool
    {
        return isset($this->options['replace']);
    }

    /** Why this queue would store it in another way, or elsewhere, than the queue it was made for; null: it would not. */
    public function misfit(QueueSettings $own): ?string
    {
        $partitions = $this->options['partitions'] ?? 1;

        return match (true) {
            $this->isCancellation() => null,
            isset($this->options['sealed']) !== $own->isSealed => $own->isSealed
                ? 'its producer does not seal, and this relay has keys: take them away, or give them to the producers'
                : 'its producer seals, and this relay has no keys: give it those of the producers',
            $own->partitions < $partitions => "its producer knows of $partitions partitions, and this relay of $own->partitions: give it as many",
            default => null,
        };
    }

    /** A cancellation that has deleted the row of its job. */
    public function hasDeleted(): bool
    {
        return isset($this->options['deleted']);
    }

    public function hasMoment(): bool
    {
        return isset($this->options['moment']);
    }

    /** Milliseconds since 1970, by the clock of the host that has made it. */
    public function madeMs(): int
    {
        return (int) hexdec(substr($this->id, 0, 8) . substr($this->id, 9, 4));
    }

    /** The smallest id of that millisecond. */
    public static function idAt(int $ms): string
    {
        return substr_replace(sprintf('%012x', $ms), '-', 8, 0) . '-7000-8000-000000000000';
    }

    /**
     * For pushOnce() of a queue with format raw.
     *
     * @param string $source the word of the database
     * @param float|DateTimeImmutable $delay when it is due in Redis
     *
     * @return array<string, mixed>
     */
    public function item(string $source, float|DateTimeImmutable $delay): array
    {
        $extras = $this->options['extras'] ?? null;

        return [
            'receipt' => "$source/$this->id",
            'id' => $this->job,
            'payload' => $this->body,
            'delay' => $delay,
            'createdAt' => $this->madeMs() / 1000,
            'onDuplicate' => isset($this->options['replace']) ? OnDuplicate::Replace : OnDuplicate::Keep,
            'extras' => $extras === null ? null : (string) base64_decode($extras, true),
            'backoff' => Backoff::parse((string) $this->options['backoff']),
            'headers' => $this->options['headers'] ?? [],
        ] + array_intersect_key($this->options, ['priority' => 1, 'ttr' => 1, 'maxAttempts' => 1, 'timeout' => 1]);
    }

    /** @return list<int|string|null> the values of one row of insert() */
    private function values(Dialect $dialect): array
    {
        $options = json_encode($this->options, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION);

        return [$this->id, $this->queue, $this->job, $dialect->bound($this->body), $options, $this->dueUs];
    }

    /**
     * For statements that a server takes: its packets may be no larger than some MiB.
     *
     * @param list<self> $rows
     *
     * @return iterable<non-empty-list<self>>
     */
    public static function chunks(array $rows): iterable
    {
        [$chunk, $bytes] = [[], 0];
        foreach ($rows as $row) {
            if ($chunk !== [] && (count($chunk) === 500 || $bytes + strlen($row->body) > 1 << 20)) {
                yield $chunk;
                [$chunk, $bytes] = [[], 0];
            }
            $chunk[] = $row;
            $bytes += strlen($row->body);
        }
        if ($chunk !== []) {
            yield $chunk;
        }
    }

    /**
     * Keeps rows that have just been inserted in the journal's table, where the same id may be of several jobs. It takes their times as the table
     * has them, so that a queue that is rebuilt has no job too early.
     *
     * @param non-empty-list<self> $rows
     *
     * @return array{string, list<int|string|null>} SQL and values
     */
    public static function copy(array $rows, Dialect $dialect): array
    {
        $made = $dialect === Dialect::PostgreSql ? 'cast(? as bigint)' : '?';
        $one = "select queue, job, $made, due, payload, options, 'waiting', id from delayqueue_outbox where id = ?";
        [$into, $end] = $dialect === Dialect::MySql ? ['insert ignore into', ''] : ['insert into', ' on conflict do nothing'];
        $sql = "$into delayqueue_jobs (queue, job, made, due, payload, options, state, receipt) " . implode(' union all ', array_fill(0, count($rows), $one)) . $end;

        return [$sql, array_merge(...array_map(static fn (self $row): array => [$row->madeMs(), $row->id], $rows))];
    }

    /**
     * One statement inserts all of them. On MySQL and SQLite its time stands still, and jobs of one microsecond have no order: each is due one later than
     * the one before.
     *
     * @param non-empty-list<self> $rows
     *
     * @return array{string, list<int|string|null>} SQL and values
     */
    public static function insert(array $rows, Dialect $dialect): array
    {
        $now = $dialect->now();
        $places = static fn (self $row, int $index): string => "(?, ?, ?, {$dialect->bytes()}, ?, $now, " . ($row->hasMoment() ? '?' : "$now + ? + $index") . ')';
        $sql = 'insert into delayqueue_outbox (id, queue, job, payload, options, placed, due) values ';

        return [$sql . implode(', ', array_map($places, $rows, array_keys($rows))), array_merge(...array_map(static fn (self $row): array => $row->values($dialect), $rows))];
    }

    /**
     * A delay counts from the insert.
     *
     * @param array<string, array{self, int}> $inserted rows by id, and when they were inserted, by hrtime()
     *
     * @return Closure(self): (float|DateTimeImmutable)
     */
    public static function delays(array $inserted): Closure
    {
        return static fn (self $row): float|DateTimeImmutable => $row->hasMoment()
            ? Moment::of($row->dueUs / 1e6)
            : max(0, $row->dueUs - intdiv(hrtime(true) - $inserted[$row->id][1], 1000)) / 1e6;
    }
}
