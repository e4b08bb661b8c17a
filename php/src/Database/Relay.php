<?php

declare(strict_types=1);

namespace DelayQueue\Database;

use Closure;
use DateTimeImmutable;
use DelayQueue\ConnectionException;
use DelayQueue\Database\Internal\Backlog;
use DelayQueue\Database\Internal\Dialect;
use DelayQueue\Database\Internal\Offsets;
use DelayQueue\Database\Internal\PdoConnection;
use DelayQueue\Database\Internal\Row;
use DelayQueue\Database\Internal\Targets;
use DelayQueue\Internal\Moment;
use DelayQueue\QueueInterface;
use DelayQueue\ServerException;
use LogicException;
use PDO;
use Throwable;
use ValueError;

/**
 * Brings the rows of the outbox to Redis, and deletes them. Any number of relays may run: none waits for another, and none does what another has
 * done. It pushes with the durability of the queues.
 */
final class Relay
{
    /** Nanoseconds after which no further queue of a batch is tried: its rows are locked meanwhile. */
    private const LONG = 5_000_000_000;

    /** Rows of one batch: more would stay locked for long. */
    public const LARGEST_BATCH = 1000;

    /** After so many refusals of Redis without a success it looks as if it took none. */
    private const TRIED = 3;

    /** drain() ends after so many looks that have found rows which all fail. */
    private const VAIN_LOOKS = 100;

    /** Seconds between two looks at an empty table. */
    private const IDLE = 1.0;

    /** Seconds after an error: at first, and at most. */
    private const FIRST_PAUSE = 0.1;
    private const LONGEST_PAUSE = 5.0;

    /** Nanoseconds between two looks for receipts whose rows are gone, and how many seconds old these are: no packet and no process is that late. */
    private const SWEEP_EVERY = 30_000_000_000;
    private const RECEIPTS_FOR = 600;

    private const PAGE = 1000;

    private readonly Connection $database;

    private readonly Dialect $dialect;

    private readonly Targets $targets;

    private readonly Offsets $offsets;

    private readonly Backlog $backlog;

    private readonly Closure $report;

    private ?string $source = null;

    /** By hrtime(). */
    private int $sweptAt;

    /**
     * @param PDO|Closure(): PDO|Connection $database for a relay that is to outlive a lost connection a function that opens one
     * @param (callable(string): QueueInterface)|null $queues as of Outbox: with the keys and partitions of the producers
     * @param int<1, 1000> $batch rows that one transaction takes at most; it takes no more than 2 MiB of payloads
     * @param float $after seconds for which a row is left to the flush() of its own request
     * @param (callable(string, Throwable): void)|null $report hears what went wrong, and why; null: error_log()
     *
     * @throws ValueError
     */
    public function __construct(
        PDO|Closure|Connection $database,
        ?callable $queues = null,
        private readonly int $batch = 500,
        float $after = 5.0,
        ?callable $report = null,
    ) {
        if ($batch < 1 || $batch > self::LARGEST_BATCH || $after < 0) {
            throw new ValueError(self::class . '::__construct(): ' . ($after < 0 ? 'Argument #4 ($after) must be greater than or equal to 0' : 'Argument #3 ($batch) must be between 1 and ' . self::LARGEST_BATCH));
        }
        $this->database = PdoConnection::of($database);
        $this->dialect = Dialect::from($this->database->driver());
        $this->targets = new Targets($queues);
        $this->offsets = new Offsets($this->database, $this->dialect, $this->targets);
        $this->backlog = new Backlog($this->database, $this->dialect, $after);
        $this->report = $report === null ? static fn (string $what, Throwable $error) => error_log("delayqueue: $what: {$error->getMessage()}") : $report(...);
        $this->sweptAt = hrtime(true);
    }

    /**
     * Takes one batch.
     *
     * @return int<0, max> rows that Redis has now and the table no more
     *
     * @throws SchemaException when the tables are missing or of another version
     * @throws Throwable of the database; nothing is lost, and no row is pushed twice
     */
    public function runOnce(): int
    {
        if ($this->database->isInTransaction()) {
            throw new LogicException('a relay has transactions of its own, and one is open');
        }
        $this->start();
        foreach ($this->offsets->old() as $queue) {
            $this->attempt($queue, fn () => $this->offsets->measure($queue));
        }
        if ($this->dialect === Dialect::Sqlite) {
            // It has one lock for all writers, and no producer is to wait for Redis.
            return $this->relay();
        }
        foreach ($this->dialect->beforeRelaying() as $statement) {
            $this->database->execute($statement);
        }

        return $this->database->transaction(function (): int {
            foreach ($this->dialect->whileRelaying() as $statement) {
                $this->database->execute($statement);
            }

            return $this->relay();
        });
    }

    /**
     * Takes batches until one is not full, since others may insert all the time. What fails is reported, and passed over.
     *
     * @param (callable(): bool)|null $stop ends it earlier
     *
     * @return int<0, max> rows that Redis has now and the table no more
     *
     * @throws SchemaException
     * @throws Throwable of the database
     */
    public function drain(?callable $stop = null): int
    {
        $moved = $vain = 0;
        do {
            $moved += $count = $this->runOnce();
            $vain = $count === 0 ? $vain + 1 : 0;
        } while ($this->backlog->mayHaveMore() && $vain < self::VAIN_LOOKS && !($stop !== null && $stop()));

        return $moved;
    }

    /**
     * Until $stop says true. Errors are reported, and what failed is tried again, later and later, but for tables that are missing.
     *
     * @param (callable(): bool)|null $stop null: never
     *
     * @throws SchemaException
     */
    public function run(?callable $stop = null): void
    {
        $stop ??= static fn (): bool => false;
        for ($failures = 0; !$stop();) {
            try {
                $isIdle = $this->runOnce() === 0;
                if (hrtime(true) - $this->sweptAt > self::SWEEP_EVERY) {
                    $this->sweptAt = hrtime(true);
                    $this->sweep();
                }
                [$failures, $pause] = [0, $isIdle ? self::IDLE : 0.0];
            } catch (LogicException|SchemaException $error) {
                throw $error;
            } catch (Throwable $error) {
                $this->source = null; // The next connection may be another one.
                $pause = min(self::LONGEST_PAUSE, self::FIRST_PAUSE * 2 ** $failures++);
                ($this->report)(sprintf('the database has failed, and is asked again in %.1f s', $pause), $error);
            }
            // A signal ends it. One that has come already is not slept over.
            $pause > 0 && !$stop() && usleep((int) ($pause * 1e6));
        }
    }

    /**
     * Receipts of this database that are ten minutes old and whose rows are gone are forgotten. run() does it every half a minute.
     *
     * @return int<0, max> how many
     */
    public function sweep(): int
    {
        $this->start();
        $names = $this->offsets->queues();
        try {
            // A push that needed no row, or another relay, has left receipts in queues that this one does not know.
            $names = array_unique([...$names, ...$this->targets->queue($names[0] ?? 'default')->queues()]);
        } catch (Throwable) {
            // A user that may not read the index, or a queue that $queues refuses.
        }
        $forgotten = 0;
        foreach ($names as $name) {
            $this->attempt($name, function () use ($name, &$forgotten): void {
                $forgotten += $this->sweepQueue($this->targets->queue($name));
            });
        }

        return $forgotten;
    }

    /** Sets up a connection that was not used yet. */
    private function start(): void
    {
        if ($this->source === null) {
            array_map($this->database->execute(...), $this->dialect->ofRelay());
            $this->source = Schema::source($this->database);
        }
    }

    private function sweepQueue(QueueInterface $queue): int
    {
        $forgotten = 0;
        do {
            $receipts = $queue->receipts(self::RECEIPTS_FOR, "$this->source/", self::PAGE);
            $ids = array_map(fn (string $receipt): string => substr($receipt, strlen("$this->source/")), $receipts);
            $gone = $ids === [] ? [] : array_diff($ids, $this->backlog->present($ids));
            if ($gone === []) {
                break;
            }
            if (($statements = $this->dialect->beforeForgetting()) !== []) {
                $this->database->transaction(fn (): array => array_map($this->database->rows(...), $statements));
            }
            $forgotten += $queue->forgetReceipts(...array_values(array_intersect_key($receipts, $gone)));
        } while (count($receipts) === self::PAGE);

        return $forgotten;
    }

    /** In a transaction, but for SQLite. */
    private function relay(): int
    {
        $began = hrtime(true);
        $done = [];
        foreach ($this->backlog->take($this->batch, $this->refuse(...)) as $queue => $rows) {
            // Anew: the tables may have been made again.
            $this->source = $done === [] ? Schema::source($this->database) : $this->source;
            array_push($done, ...$this->deliver((string) $queue, $rows));
            if (hrtime(true) - $began > self::LONG) {
                break;
            }
        }
        $this->backlog->delete($done);

        return count($done);
    }

    /**
     * @param list<Row> $rows of one queue
     *
     * @return list<string> the ids of those that Redis has
     */
    private function deliver(string $queue, array $rows): array
    {
        try {
            $this->targets->raw($queue);
        } catch (Throwable $error) {
            $this->backOff($queue, $error); // the application makes no such queue

            return [];
        }
        try {
            return $this->push($queue, $rows);
        } catch (ConnectionException $error) {
            $this->backOff($queue, $error);

            return [];
        } catch (Throwable) {
            return $this->deliverEach($queue, $rows);
        }
    }

    /**
     * A row that is refused does not hold up the others. Where Redis takes none of the first, the queue waits as a whole.
     *
     * @param list<Row> $rows of one queue
     *
     * @return list<string>
     */
    private function deliverEach(string $queue, array $rows): array
    {
        [$done, $refused, $answers] = [[], [], []];
        foreach ($rows as $row) {
            try {
                array_push($done, ...$this->push($queue, [$row]));
                continue;
            } catch (ConnectionException $error) {
                $this->backOff($queue, $error);
                break;
            } catch (ServerException $error) {
                $answers[] = $row->id;
            } catch (Throwable $error) {
            }
            if ($done === [] && count($answers) === min(self::TRIED, count($rows))) {
                $this->backOff($queue, $error);
                // Next time it tries others, where there are any.
                count($rows) > self::TRIED && array_map(fn (string $id): float => $this->backlog->postpone('id', $id), $answers);
                $refused = array_diff_key($refused, [$error->getMessage() => 1]);
                break;
            }
            $refused[$error->getMessage()][] = [$row, $error];
        }
        foreach ($refused as $some) {
            $this->refuse(array_map(static fn (array $one): string => $one[0]->id, $some), "job {$some[0][0]->job} of queue $queue", $some[0][1]);
        }

        return $done;
    }

    /**
     * @param list<Row> $rows of one queue
     *
     * @return list<string> their ids
     */
    private function push(string $queue, array $rows): array
    {
        $this->targets->deliver($queue, $rows, (string) $this->source, $this->dueAt(...));
        $this->backlog->settle($queue, $ids = array_column($rows, 'id'));

        return $ids;
    }

    private function dueAt(Row $row): DateTimeImmutable
    {
        return Moment::of(($row->hasMoment() ? $row->dueUs : $row->dueUs + $this->offsets->of($row->queue)) / 1e6);
    }

    /** A queue that fails, or that $queues refuses, holds up no other. @param Closure(): mixed $work that asks the queue's Redis */
    private function attempt(string $queue, Closure $work): void
    {
        try {
            $this->backlog->waitsFor($queue) || $work();
        } catch (Throwable $error) {
            $this->backOff($queue, $error);
        }
    }

    private function backOff(string $queue, Throwable $error): void
    {
        $this->offsets->doubt($queue);
        ($this->report)(sprintf('the rows of queue %s are tried again in %.1f s', $queue, $this->backlog->postpone('queue', $queue)), $error);
    }

    /**
     * @param non-empty-list<string> $ids rows that failed for one reason
     * @param string $first what the first of them is
     */
    private function refuse(array $ids, string $first, Throwable $error): void
    {
        $seconds = max(array_map(fn (string $id): float => $this->backlog->postpone('id', $id), $ids));
        $more = count($ids) === 1 ? ' is' : ' and ' . (count($ids) - 1) . ' more of the queue are';
        ($this->report)(sprintf('%s, row %s,%s tried again in %.1f s', $first, $ids[0], $more, $seconds), $error);
    }
}
