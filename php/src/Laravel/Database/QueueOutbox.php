<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Database;

use Closure;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Relay;
use DelayQueue\Database\Schema;
use DelayQueue\Database\SchemaException;
use DelayQueue\Laravel\QueueName;
use Illuminate\Container\Container;
use Throwable;
use WeakReference;

/** The outbox of a queue connection, with the commits of Laravel's database connection. Queues have Laravel's names here. */
final class QueueOutbox
{
    private readonly LaravelConnection $database;

    private ?Outbox $rows = null;

    /** @var WeakReference<object>|null to the transaction of which $rows remembers rows and cancellations */
    private ?WeakReference $transaction = null;

    /** @param string|null $connection of config/database.php; null: the default one */
    public function __construct(Container $container, private readonly RowQueues $queues, ?string $connection)
    {
        $this->database = new LaravelConnection($container->make('db'), $connection);
    }

    /** For rows of your own: its queues have their names in Redis. */
    public function rows(): Outbox
    {
        $this->rows ??= new Outbox($this->database, $this->queues);
        // Laravel drops a transaction that is rolled back, and tells nobody before 12.10. After a commit, flush() comes first.
        if ($this->transaction !== null && $this->transaction->get() === null) {
            $this->rows->discard();
            $this->transaction = null;
        }
        $open = $this->transaction === null ? $this->database->outermost() : null;
        $this->transaction ??= $open === null ? null : WeakReference::create($open);

        return $this->rows;
    }

    /** @param callable(string, Throwable): void $report */
    public function relay(int $batch, float $after, callable $report): Relay
    {
        return new Relay($this->database, $this->queues, $batch, $after, $report);
    }

    public function isInTransaction(): bool
    {
        return $this->database->isInTransaction();
    }

    /** A row of this transaction is seen no sooner than all transactions are committed that are open now. */
    public function holdsAllTransactions(): bool
    {
        return $this->database->isAwaitedAlone();
    }

    /**
     * A row of the open transaction.
     *
     * @param array<string, mixed> $job as Outbox::push() takes it
     *
     * @return string its id
     */
    public function push(string $queue, array $job): string
    {
        $id = $this->stored(fn (): string => $this->rows()->push(QueueName::encode($queue), $job));
        $this->flush();

        return $id;
    }

    /**
     * Rows of the open transaction, or of one of their own.
     *
     * @param list<array<string, mixed>> $jobs
     *
     * @return list<string> their ids
     */
    public function pushMany(string $queue, array $jobs): array
    {
        $ids = $this->stored(fn (): array => $this->rows()->pushMany(QueueName::encode($queue), $jobs));
        $this->flush();

        return $ids;
    }

    /**
     * Outside of a transaction: to Redis, and where it is away a row.
     *
     * @param array<string, mixed> $job
     *
     * @return string its id
     *
     * @throws \DelayQueue\DuplicateJobException where Redis is there, and the job is to fail as a duplicate
     */
    public function pushNow(string $queue, array $job): string
    {
        return $this->stored(fn (): string => $this->rows()->pushNow(QueueName::encode($queue), $job));
    }

    /** At the commit. @return int how many rows were deleted, of jobs that have not been in Redis */
    public function cancel(string $queue, string $id): int
    {
        $deleted = $this->stored(fn (): int => $this->rows()->cancel(QueueName::encode($queue), $id));
        $this->flush();

        return $deleted;
    }

    /** @return list<string> the queues of the rows of that id */
    public function queuesOf(string $id): array
    {
        $find = fn (): array => $this->database->rows('select distinct queue from ' . Schema::OUTBOX . ' where job = ?', [$id]);

        return array_map(QueueName::decode(...), array_column($this->stored($find), 'queue'));
    }

    /** @return list<string> payloads of its rows that wait, which are no jobs in Redis yet */
    public function payloads(string $queue, string $id): array
    {
        return $this->stored(fn (): array => $this->rows()->payloads(QueueName::encode($queue), $id));
    }

    /**
     * Calls it when the open transaction is committed.
     *
     * @param Closure(): mixed $work
     *
     * @return bool false: nobody says when that is
     */
    public function whenCommitted(Closure $work): bool
    {
        return $this->database->whenCommitted($work);
    }

    /**
     * @template T
     *
     * @param Closure(): T $store
     *
     * @return T
     */
    private function stored(Closure $store): mixed
    {
        try {
            return $store();
        } catch (Throwable $error) {
            $missing = $error instanceof SchemaException ? $error : Schema::explained($error);
            if (!$missing instanceof SchemaException) {
                throw $error;
            }
            $cure = 'in Laravel: php artisan vendor:publish --tag=delayqueue-migrations, then php artisan migrate';
            throw new SchemaException("{$missing->getMessage()}; $cure", 0, $missing);
        }
    }

    private function flush(): void
    {
        // A commit without a call-back leaves it to the relay. In a test, its own transaction is still open then.
        $flush = function (): void {
            $this->transaction = null;
            $this->rows?->flushCommitted();
        };
        $this->isInTransaction() ? $this->whenCommitted($flush) : $flush();
    }
}
