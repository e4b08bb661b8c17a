<?php

declare(strict_types=1);

namespace DelayQueue\Database;

use Closure;
use DateInterval;
use DateTimeInterface;
use DelayQueue\Backoff;
use DelayQueue\Database\Internal\Autocommit;
use DelayQueue\Database\Internal\Dialect;
use DelayQueue\Database\Internal\NewRows;
use DelayQueue\Database\Internal\PdoConnection;
use DelayQueue\Database\Internal\Row;
use DelayQueue\Database\Internal\Table;
use DelayQueue\Database\Internal\Targets;
use DelayQueue\DuplicateJobException;
use DelayQueue\Exception;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use DelayQueue\PayloadException;
use DelayQueue\QueueInterface;
use LogicException;
use PDO;
use Throwable;
use TypeError;
use ValueError;

/**
 * Jobs that are pushed exactly when the caller's own transaction is committed:
 *
 *     $outbox = new Outbox($pdo);
 *     $outbox->transaction(function (PDO $pdo) use ($outbox): void {
 *         $pdo->exec("INSERT INTO orders …");
 *         $outbox->push('orders', ['order' => 4711], delay: '15m', id: 'order-4711');
 *     });
 *
 * A job is a row of the transaction. flush() pushes it after the commit; the relay pushes what flush() has not, and deletes the rows. Both push a row
 * under its receipt, so it is one job, whoever pushes it and however often.
 */
final class Outbox
{
    /** Seconds that flush() and pushNow() wait for Redis. Only tests change it: a busy machine may need longer. */
    private static float $patience = 0.25;

    /** Rows of one statement. */
    private const CHUNK = 500;

    /** So many rows, and bytes of payloads, wait here for flush(). The relay brings further ones: a program that never flushes must not grow. */
    private const MOST_ROWS = 10_000;
    private const MOST_BYTES = 8 << 20;

    private readonly Connection $database;

    private readonly Table $table;

    private readonly Targets $targets;

    private readonly NewRows $newRows;

    private ?string $source = null;

    /** @var array<string, array{Row, int}> rows that have not been flushed, by id, and when they were inserted, by hrtime() */
    private array $mine = [];

    private int $bytes = 0;

    /** @var array<string, true> jobs whose cancellation has not been flushed, by queue and id */
    private array $cancelled = [];

    /**
     * @param PDO|Closure(): PDO|Connection $database the application's own connection, on which its transactions are
     * @param (callable(string): QueueInterface)|null $queues makes the queue of a name; null: new DelayQueue($name)
     * @param bool $journal also keeps each job in the table delayqueue_jobs until it is done, for Journal
     */
    public function __construct(PDO|Closure|Connection $database, ?callable $queues = null, private readonly bool $journal = false)
    {
        $this->database = PdoConnection::of($database);
        $this->table = new Table($this->database, $journal);
        $this->targets = new Targets($queues, ['connectTimeout' => self::$patience, 'readTimeout' => self::$patience]);
        $this->newRows = new NewRows($this->targets, $journal);
    }

    /**
     * Inserts a job, checked as a push checks it, into the table. It becomes one in Redis when the transaction is committed; outside of a transaction
     * it is committed by itself. A delay counts from this call.
     *
     * Parameters as of DelayQueue::push(), with the queue's defaults. The row itself is what arrives once, so there is no $unique; nobody would hear
     * of a duplicate, so Fail is a ValueError.
     *
     * @return non-empty-string the id of the job
     *
     * @throws ValueError|TypeError|PayloadException as DelayQueue::push()
     * @throws SchemaException when the table is missing or of another version; what else the database's driver throws passes through
     */
    public function push(
        string $queue,
        mixed $payload,
        int|float|string|DateInterval|DateTimeInterface $delay = 0,
        ?string $id = null,
        ?int $priority = null,
        int|float|string|DateInterval|null $ttr = null,
        ?int $maxAttempts = null,
        ?Backoff $backoff = null,
        int|float|string|DateInterval|null $timeout = null,
        OnDuplicate $onDuplicate = OnDuplicate::Keep,
        array $headers = [],
        int|float|string|DateInterval|null $unique = null,
        int|float|string|DateInterval|null $maxWait = null,
        int|float|string|DateInterval|DateTimeInterface|null $expires = null,
        OnExpiry $onExpiry = OnExpiry::Bury,
        int|float|string|DateInterval|DateTimeInterface|null $retryUntil = null,
        ?string $group = null,
    ): string {
        $job = array_diff_key(get_defined_vars(), ['queue' => 1]);
        $row = $this->row($queue, $job, 'push');
        $this->insert([$row]);

        return $row->job;
    }

    /**
     * All of them or none.
     *
     * @param iterable<array<string, mixed>> $jobs the arguments of push() by their names, but for $queue
     *
     * @return list<non-empty-string> the ids
     *
     * @throws ValueError|TypeError|PayloadException|SchemaException as push()
     */
    public function pushMany(string $queue, iterable $jobs): array
    {
        $rows = [];
        foreach ($jobs as $job) {
            is_array($job) || throw new TypeError(self::class . '::pushMany(): Argument #2 ($jobs) item ' . count($rows) . ' must be of type array, ' . get_debug_type($job) . ' given');
            $rows[] = $this->row($queue, $job + ['onDuplicate' => OnDuplicate::Keep], 'pushMany', count($rows));
        }
        $this->together(fn () => $this->insert($rows));

        return array_map(static fn (Row $row): string => $row->job, $rows);
    }

    /**
     * Pushes to Redis now, without a row. Where Redis cannot be reached or refuses (it is loading, full, read-only) the job is a row, and the relay
     * pushes it: the shop takes the order while Redis is away. Redis has a quarter of a second to answer.
     *
     * Parameters as of push(); without a journal $onDuplicate may be Fail, which a row turns into Keep.
     *
     * @return non-empty-string the id of the job
     *
     * @throws DuplicateJobException with Fail when Redis has the id, with Replace when a worker has that job
     * @throws LogicException inside a transaction, where Redis would have the job before its commit: use push()
     * @throws ValueError|TypeError|PayloadException|SchemaException as push()
     */
    public function pushNow(
        string $queue,
        mixed $payload,
        int|float|string|DateInterval|DateTimeInterface $delay = 0,
        ?string $id = null,
        ?int $priority = null,
        int|float|string|DateInterval|null $ttr = null,
        ?int $maxAttempts = null,
        ?Backoff $backoff = null,
        int|float|string|DateInterval|null $timeout = null,
        OnDuplicate $onDuplicate = OnDuplicate::Keep,
        array $headers = [],
        int|float|string|DateInterval|null $unique = null,
        int|float|string|DateInterval|null $maxWait = null,
        int|float|string|DateInterval|DateTimeInterface|null $expires = null,
        OnExpiry $onExpiry = OnExpiry::Bury,
        int|float|string|DateInterval|DateTimeInterface|null $retryUntil = null,
        ?string $group = null,
    ): string {
        $job = array_diff_key(get_defined_vars(), ['queue' => 1]);
        if ($this->database->isInTransaction()) {
            throw new LogicException('pushNow() would push before the transaction is committed: use push()');
        }
        $row = $this->row($queue, $job, 'pushNow');
        if ($this->journal) {
            // Its copy is in the database in any case.
            $this->together(fn () => $this->insert([$row]));
            $this->flush();

            return $row->job;
        }
        $source = $this->source ??= Schema::source($this->database);
        try {
            $delays = Row::delays([$row->id => [$row, hrtime(true)]]);
            $kept = $this->targets->deliver($queue, [$row], $source, $delays, tellsOfKept: false);
        } catch (PayloadException $error) {
            throw $error;
        } catch (Exception) {
            // It may have arrived all the same: the relay asks with the receipt.
            Autocommit::run($this->database, fn () => $this->insert([$row]));
            unset($this->mine[$row->id]);
            $kept = 0;
        }
        if ($kept > 0 && $onDuplicate !== OnDuplicate::Keep) {
            throw new DuplicateJobException("job '$row->job' is already in queue '$queue', or its id is still taken");
        }

        return $row->job;
    }

    /**
     * Cancels jobs when the transaction is committed: those whose rows wait at once, those in Redis at flush(), or by the relay, which leaves a job
     * that was made later. But one that is pushed under the same id while the cancellation waits for Redis is kept as a duplicate of the old one, and
     * cancelled with it: give it OnDuplicate::Replace, which a push of this object has by itself.
     *
     * @return int<0, max> rows that were deleted: jobs that Redis need not have met
     *
     * @throws ValueError|SchemaException and whatever the database's driver throws
     */
    public function cancel(string $queue, string ...$ids): int
    {
        $made = [];
        foreach ($ids as $id) {
            $made[$id] = $this->row($queue, ['id' => $id, 'payload' => '', 'onDuplicate' => OnDuplicate::Keep], 'cancel');
        }

        return $this->together(function () use ($queue, $made): int {
            $deleted = 0;
            foreach (array_chunk($made, self::CHUNK) as $chunk) {
                $deleted += $this->cancelRows($queue, $chunk);
            }

            return $deleted;
        });
    }

    /** @internal @return list<string> payloads of the rows that wait of one job */
    public function payloads(string $queue, string $id): array
    {
        return $this->table->payloads($queue, $id);
    }

    /**
     * After the commit: brings what this object has pushed and cancelled to Redis at once. It looks first which of its
     * rows are there, so that a rollback, a savepoint, or a relay that was quicker, needs no care. Redis has a quarter
     * of a second to answer; what fails here, the relay does, so nothing is thrown for it.
     *
     * @return int<0, max> jobs that are in Redis now
     *
     * @throws LogicException inside a transaction
     */
    public function flush(): int
    {
        if ($this->database->isInTransaction()) {
            throw new LogicException('flush() belongs behind the commit, and the transaction is open');
        }

        return $this->flushCommitted();
    }

    /** @internal for call-backs at a framework's true commit: in tests a transaction may still be open around it */
    public function flushCommitted(): int
    {
        $mine = $this->mine;
        $this->discard();
        $flushed = 0;
        try {
            [$there, $source] = $this->table->committed(array_keys($mine));
            $rowsOf = [];
            foreach ($there as $id) {
                $rowsOf[$mine[$id][0]->queue][] = $mine[$id][0];
            }
            foreach ($rowsOf as $queue => $rows) {
                $this->targets->deliver((string) $queue, $rows, (string) $source, Row::delays($mine), true);
                $flushed += count(array_filter($rows, static fn (Row $row): bool => !$row->isCancellation()));
            }
        } catch (Throwable) {
            // The order is stored, and its job with it: the relay brings it.
        }

        return $flushed;
    }

    /** Forgets what was pushed and not flushed: after a rollback, or to leave it to the relay. */
    public function discard(): void
    {
        [$this->mine, $this->bytes, $this->cancelled] = [[], 0, []];
    }

    /**
     * Begins, works, commits, flushes. What $work throws rolls back, and passes through.
     *
     * @template T
     *
     * @param callable(object): T $work gets the PDO, or the framework's connection
     *
     * @return T
     */
    public function transaction(callable $work): mixed
    {
        try {
            $result = $this->database->transaction(function () use ($work): mixed {
                $result = $work($this->database->handle());
                array_map($this->database->rows(...), Dialect::from($this->database->driver())->beforeCommit());

                return $result;
            });
        } catch (Throwable $error) {
            $this->discard();
            throw $error;
        }
        // Where frameworks nest transactions, the outer one is still open.
        $this->database->isInTransaction() || $this->flush();

        return $result;
    }

    /**
     * The rows of the table: normally those of the last seconds.
     *
     * @return array{rows: int, oldest: float|null} how many, and the age of the oldest in seconds; null: there is none
     */
    public function waiting(): array
    {
        return $this->table->size();
    }

    /** @param array<string, mixed> $job as NewRows::make() */
    private function row(string $queue, array $job, string $method, ?int $item = null): Row
    {
        $row = $this->newRows->make($queue, $job, $method, $item);

        return isset($this->cancelled["$queue $row->job"]) ? $row->replacing() : $row;
    }

    /** @param list<Row> $rows that flush() finds then */
    private function insert(array $rows): void
    {
        $this->table->insert($rows);
        $at = hrtime(true);
        foreach ($rows as $row) {
            if (count($this->mine) < self::MOST_ROWS && $this->bytes < self::MOST_BYTES) {
                $this->mine[$row->id] = [$row, $at];
                $this->bytes += strlen($row->body);
            }
        }
    }

    /**
     * @param non-empty-list<Row> $made one for each job
     *
     * @return int<0, max> rows of the outbox that were deleted
     */
    private function cancelRows(string $queue, array $made): int
    {
        $ids = array_column($made, 'job');
        $waiting = $this->table->waiting($queue, $ids);
        $there = array_flip($waiting);
        $this->insert(array_map(static fn (Row $row): Row => Row::ofCancellation($row->id, $queue, $row->job, isset($there[$row->job])), $made));
        $this->cancelled = count($this->cancelled) < self::MOST_ROWS ? $this->cancelled : [];
        $this->cancelled += array_fill_keys(array_map(static fn (string $id): string => "$queue $id", $ids), true);
        $this->table->endCopies($queue, $ids);

        return $this->table->delete(array_keys($waiting));
    }

    /**
     * @template T
     *
     * @param Closure(): T $work
     *
     * @return T in one transaction, the caller's or one of its own
     */
    private function together(Closure $work): mixed
    {
        return $this->database->isInTransaction() ? $work() : $this->database->transaction($work);
    }
}
