<?php

declare(strict_types=1);

namespace DelayQueue\Database;

use Closure;
use DelayQueue\Database\Internal\Dialect;
use DelayQueue\Database\Internal\History;
use DelayQueue\Database\Internal\PdoConnection;
use DelayQueue\JobInterface;
use LogicException;
use PDO;
use Throwable;

/**
 * The effect of a job once, also when the job is delivered again:
 *
 *     $queue->consume(fn (Job $job) => $inbox->once($job, function (PDO $pdo) use ($job): void {
 *         $pdo->exec("UPDATE orders SET state = 'closed' …");
 *     }));
 *
 * Exact for what $work does with this connection, since both are committed together.
 */
final class Inbox
{
    private readonly Connection $database;

    private readonly Dialect $dialect;

    /** @param PDO|Closure(): PDO|Connection $database the connection on which the effects are */
    public function __construct(PDO|Closure|Connection $database)
    {
        $this->database = PdoConnection::of($database);
        $this->dialect = Dialect::from($this->database->driver());
    }

    /**
     * Marks the job as done and works, in one transaction. A second delivery at the same time waits for the first one. A new job of an old id is
     * another job. One that Outbox::cancel() has cancelled, with $journal, is not done any more.
     *
     * $work must let deadlocks and lock timeouts pass through. On MySQL and MariaDB such an error may have ended the transaction: what $work did after
     * it would be committed by itself, and be done again by the next delivery.
     *
     * @param callable(object): mixed $work gets the PDO, or the framework's connection; what it throws rolls back, and passes through
     *
     * @return bool false: it was done before, and $work was not called
     *
     * @throws LogicException inside a transaction, which might be rolled back after the job is acknowledged
     * @throws SchemaException and whatever the database's driver throws, also for a deadlock or a lock that takes too long: the queue tries again
     * @throws \ValueError when the job's id is not UTF-8
     */
    public function once(JobInterface $job, callable $work): bool
    {
        if ($this->database->isInTransaction()) {
            throw new LogicException('once() is the transaction, and one is open: the job would be acknowledged before that is committed');
        }

        return $this->database->transaction(function () use ($job, $work): bool {
            if (!$this->mark($job)) {
                return false;
            }
            $work($this->database->handle());
            // After an error that $work has caught, PostgreSQL takes a COMMIT and rolls back. Any other statement it refuses.
            $this->dialect === Dialect::PostgreSql && $this->database->rows('select 1');

            return true;
        });
    }

    /** Before the work, so that a twin waits here. */
    private function mark(JobInterface $job): bool
    {
        $now = (int) (microtime(true) * 1e6);
        $row = History::row($job, 'done', $now, $now);
        try {
            $count = $this->database->execute(...History::upsert([$row], $this->dialect, onlyOpen: true));
            if ($this->dialect !== Dialect::MySql) {
                return $count > 0;
            }

            // The count of MySQL depends on PDO::MYSQL_ATTR_FOUND_ROWS.
            return $this->database->rows('select 1 from ' . Schema::JOBS . ' where queue = ? and job = ? and made = ? and began = ? and worker = ?', [$row['queue'], $row['job'], $row['made'], $now, $row['worker']]) !== [];
        } catch (Throwable $error) {
            throw Schema::explained($error);
        }
    }
}
