<?php

declare(strict_types=1);

namespace DelayQueue\Database;

use Closure;
use DateInterval;
use DateTimeInterface;
use DelayQueue\Database\Internal\Autocommit;
use DelayQueue\Database\Internal\Dialect;
use DelayQueue\Database\Internal\History;
use DelayQueue\Database\Internal\Offsets;
use DelayQueue\Database\Internal\PdoConnection;
use DelayQueue\Database\Internal\Recorder;
use DelayQueue\Database\Internal\Row;
use DelayQueue\Database\Internal\Targets;
use DelayQueue\Exception;
use DelayQueue\Internal\Moment;
use DelayQueue\OnDuplicate;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use PDO;
use Throwable;
use UnexpectedValueException;
use ValueError;

use function DelayQueue\duration;

/**
 * The history of each job, in one row:
 *
 *     $queue = (new Journal(fn () => new PDO(…)))->watch(new DelayQueue('orders'));
 *     $queue->consume($handler);
 *
 * It hears of the jobs that consume() and drain() settle. It does not hear of a job that its handler settles by itself with ack(), release() or the like,
 * nor of one that is cancelled, purged or dropped while no worker has it: see prune().
 */
final class Journal
{
    private const PAGE = 200;

    private readonly Connection $database;

    private readonly Dialect $dialect;

    private readonly Targets $targets;

    private readonly Closure $report;

    private readonly Recorder $recorder;

    private int $gone = 0;

    /**
     * @param PDO|Closure(): PDO|Connection $database for watch() a function that opens one, which outlives a lost connection, and not the handlers' own
     * @param (callable(string): QueueInterface)|null $queues as of Outbox, for prune() and rebuild()
     * @param positive-int $batch rows of a statement
     * @param float $atMost a busy worker writes once in so many seconds, or when a batch is full
     * @param bool $payloads also keeps the payloads of the jobs that it sees, for search() and rebuild(). An Outbox with $journal keeps them anyway
     * @param (callable(string, Throwable): void)|null $report hears what went wrong and is passed over, and why; null: error_log()
     */
    public function __construct(
        PDO|Closure|Connection $database,
        ?callable $queues = null,
        int $batch = 200,
        float $atMost = 1.0,
        bool $payloads = false,
        ?callable $report = null,
    ) {
        $this->database = PdoConnection::of($database);
        $this->targets = new Targets($queues);
        $this->report = ($report ?? static fn (string $what, Throwable $error) => error_log(preg_replace('/\s*\R\s*/', ' ', "$what: {$error->getMessage()}")))(...);
        $this->dialect = Dialect::from($this->database->driver());
        $this->recorder = new Recorder($this->database, $this->dialect, max(1, min(1000, $batch)), $atMost, $payloads, $this->report);
    }

    /**
     * Writes what becomes of the jobs of this worker: at once, or once in $atMost seconds, when a batch is full, when the worker is idle and when it
     * stops. A worker that is killed loses what it has not written. A database that fails does not stop the worker: what could not be written is
     * kept, 50 batches or 8 MiB of it, and tried again. A handler inside Inbox::once() locks the row of its job: give the connection of the journal a
     * limit for locks, since a worker may have to tell of an earlier run of that job.
     *
     * @return QueueInterface the same
     *
     * @throws SchemaException when the tables are missing or of another version
     */
    public function watch(QueueInterface $queue): QueueInterface
    {
        try {
            Schema::source($this->database);
            $this->records('1 = 0', []);
        } catch (SchemaException $error) {
            throw $error;
        } catch (Throwable $error) {
            ($this->report)('the journal waits for its database', $error);
        }
        $this->recorder->listen($queue);

        return $queue;
    }

    /** Writes now what watch() has heard. @return bool false: the database has failed, and what is left is tried again */
    public function flush(): bool
    {
        return $this->recorder->flush();
    }

    /** @return int<0, max> jobs that watch() has heard of and that could not be written */
    public function lost(): int
    {
        return $this->recorder->lost;
    }

    /**
     * The jobs of this id, the newest first.
     *
     * @return list<JobRecord>
     *
     * @throws SchemaException and whatever the database's driver throws
     */
    public function find(string $id, ?string $queue = null): array
    {
        $queues = $queue === null ? $this->queues() : [$queue];

        $where = 'queue in ' . Dialect::places(count($queues)) . ' and job = ? order by made desc' . Dialect::ALL;

        return $queues === [] ? [] : $this->records($where, [...$queues, $id]);
    }

    /** The state of the newest job of this id, one of JobRecord::STATES; null: nothing is known of it. */
    public function state(string $id, ?string $queue = null): ?string
    {
        return ($this->find($id, $queue)[0] ?? null)?->state;
    }

    /**
     * The jobs of which something was heard last, the newest first. It reads the whole table.
     *
     * @param string|null $state one of JobRecord::STATES
     * @param DateTimeInterface|null $since something was heard of them since
     * @param string|null $contains bytes of the error or, where it was kept, of the payload
     *
     * @return list<JobRecord>
     *
     * @throws SchemaException and whatever the database's driver throws
     */
    public function search(?string $queue = null, ?string $state = null, ?DateTimeInterface $since = null, ?string $contains = null, int $limit = 100): array
    {
        $state === null || in_array($state, JobRecord::STATES, true) || throw new ValueError(self::class . '::search(): Argument #2 ($state) must be one of ' . implode(', ', JobRecord::STATES));
        $limit >= 1 || throw new ValueError(self::class . '::search(): Argument #5 ($limit) must be greater than or equal to 1');
        $heard = 'coalesce(ended, began, made * 1000)';
        $bytes = $contains === null ? null : $this->dialect->bound($contains);
        [$where, $values] = self::where([
            'queue = ?' => [$queue],
            'state = ?' => [$state],
            "$heard >= ?" => [$since === null ? null : (int) $since->format('Uu')],
            "({$this->dialect->finds('payload')} or {$this->dialect->finds('error', isText: true)})" => [$bytes, $bytes],
        ]);

        return $this->records("$where order by $heard desc limit $limit", $values);
    }

    /**
     * Deletes the rows of jobs that have ended.
     *
     * Jobs may end where no worker sees it: by a plain cancel(), by purge(), because they expired, because their id was taken. Their rows would wait
     * for ever. So one that has not ended, that was due before $olderThan and that its queue does not have any more becomes `gone`, where the queue
     * answers. A row is deleted so long after that. A queue that is not in this Redis at all is reported, and none of its jobs becomes `gone`.
     *
     * @param int|float|string|DateInterval $olderThan how long ago, as a delay of push()
     * @param string|null $state only those: done, cancelled or gone
     * @param string|null $queue only its rows
     *
     * @return int<0, max> rows that were deleted; gone() tells how many became `gone`
     *
     * @throws SchemaException and whatever the database's driver throws
     */
    public function prune(int|float|string|DateInterval $olderThan, ?string $state = null, ?string $queue = null): int
    {
        $state === null || in_array($state, JobRecord::ENDED, true) || throw new ValueError(self::class . '::prune(): Argument #2 ($state) must be one of ' . implode(', ', JobRecord::ENDED));
        $before = (int) Schema::rows($this->database, "select {$this->dialect->now()} as now")[0]['now'] - (int) (duration($olderThan) * 1e6);
        [$where, $values] = self::where(['ended < ?' => [$before], 'state = ?' => [$state], 'queue = ?' => [$queue]]);
        // Of a small table MySQL would scan all rows, and wait for those that handlers have locked.
        $delete = $this->dialect === Dialect::MySql
            ? Dialect::UNSAFE . 'delete j from ' . Schema::JOBS . ' j force index (primary)'
            : 'delete from ' . Schema::JOBS;
        [$deleted, $this->gone] = [0, 0];
        do {
            $page = Schema::rows($this->database, 'select queue, job, made from ' . Schema::JOBS . " where $where order by ended limit " . self::PAGE, $values);
            $keys = implode(' or ', array_fill(0, count($page), '(queue = ? and job = ? and made = ?)'));
            $bound = array_merge(...array_map(array_values(...), $page));
            $deleted += $page === [] ? 0 : $this->change("$delete where ended is not null and ($keys)", $bound);
        } while (count($page) === self::PAGE);
        $queues = $queue === null ? $this->queues() : [$queue];
        foreach ($state === null || $state === 'gone' ? $queues : [] as $queue) {
            try {
                $this->endThoseGone($queue, $before);
            } catch (Exception|UnexpectedValueException $error) {
                ($this->report)("queue $queue cannot be asked for its jobs", $error);
            }
        }

        return $deleted;
    }

    /** @return int<0, max> jobs that became `gone` by the last prune() */
    public function gone(): int
    {
        return $this->gone;
    }

    /**
     * Pushes what has not ended, and whose payload was kept, unless it is there: for a Redis that has lost its jobs. No job is early, buried ones
     * are buried again, attempts start anew. After an error or a crash call it again.
     *
     * Relays may run: a job of an Outbox with $journal has the receipt of its row, whoever pushes it. So one that has ended in Redis less than ten
     * minutes after its push does not come back, even if the journal has not heard of it. Others may run twice, which an Inbox absorbs: those whose
     * end was not written yet, and those of a plain cancel(). One that only watch() has kept gets the backoff and the timeout of the queue.
     *
     * @return int<0, max> jobs that were added
     *
     * @throws SchemaException and whatever the database's driver throws
     * @throws Exception of Redis
     * @throws UnexpectedValueException when the queue would store a job in another way than its producer
     */
    public function rebuild(string $queue): int
    {
        $source = Schema::source($this->database);
        $offsets = new Offsets($this->database, $this->dialect, $this->targets);
        $target = $this->targets->queue($queue)->sibling($queue, Targets::OPTIONS);
        $own = $target->settings();
        [$jobs, $outbox] = [Schema::JOBS, Schema::OUTBOX];
        // The relay brings a job whose row waits and whose receipt is unknown. Of jobs of one id the last that replaces counts.
        $where = "payload is not null and (receipt is not null or job not in (select o.job from $outbox o where o.queue = ?))"
            . " and not exists (select 1 from $jobs r where r.queue = $jobs.queue and r.job = $jobs.job and r.made > $jobs.made and r.options like '%\"replace\":true%')";
        $added = 0;
        foreach ($this->open($queue, "due, state, began, error, options, receipt, {$this->dialect->column('payload')}", $where, [$queue]) as $page) {
            [$offset, $items, $made] = [$offsets->measure($queue)[0], [], []];
            foreach ($page as $columns) {
                // A PDO may give null as ''.
                $isOutbox = (string) $columns['receipt'] !== '';
                $row = Row::read(['id' => $isOutbox ? $columns['receipt'] : self::receipt($queue, $columns), 'queue' => $queue] + $columns, $this->dialect);
                $misfit = $row->misfit($own);
                if ($misfit !== null) {
                    throw new UnexpectedValueException("job $row->job of queue $queue: $misfit");
                }
                $isBuried = $columns['state'] === 'buried';
                // A moment is by Redis' clock, and what a release has set is by the database's.
                $dueUs = $row->dueUs + ($row->hasMoment() && $columns['state'] !== 'released' ? 0 : $offset);
                $item = ['onDuplicate' => OnDuplicate::Keep] + $row->item($source, Moment::of(($isBuried ? (int) $columns['began'] : $dueUs) / 1e6));
                $items[] = $item + ($isBuried ? ['state' => State::Buried] : []) + ((string) $columns['error'] === '' ? [] : ['past' => ['lastError' => $columns['error']]]);
                $isOutbox || $made[] = $item['receipt'];
            }
            $added += $target->pushOnce($items)->added;
            $made === [] || $target->forgetReceipts(...$made);
        }

        return $added;
    }

    private function endThoseGone(string $queue, int $before): void
    {
        $where = 'coalesce(due, made * 1000) < ? and not exists (select 1 from ' . Schema::OUTBOX . ' o where o.id = ' . Schema::JOBS . '.receipt)';
        $isThere = false;
        foreach ($this->open($queue, 'due', $where, [$before]) as $page) {
            $target = $this->targets->queue($queue);
            foreach ($page as $row) {
                if (!History::isIn($target, (string) $row['job'], (int) $row['made'])) {
                    // Of another Redis, of another prefix, or lost with all its jobs: those wait elsewhere, or for rebuild().
                    $isThere = $isThere || $target->count() > 0 || in_array($queue, $target->queues(), true)
                        || throw new UnexpectedValueException("queue $queue is not in this Redis");
                    $sql = 'update ' . Schema::JOBS . " set state = 'gone', ended = {$this->dialect->now()} where queue = ? and job = ? and made = ? and ended is null";
                    $this->gone += $this->change($sql, [$queue, $row['job'], (int) $row['made']]);
                }
            }
        }
    }

    /** @param list<int|string|null> $values */
    private function change(string $sql, array $values): int
    {
        return Autocommit::run($this->database, fn (): int => $this->database->execute($sql, $values));
    }

    /**
     * Rows that have not ended, by pages, in the order of the key.
     *
     * @param list<int|string> $values of $where
     *
     * @return iterable<non-empty-list<array<string, int|float|string|null>>>
     */
    private function open(string $queue, string $columns, string $where, array $values): iterable
    {
        [$job, $made] = ['', 0];
        $sql = "select job, made, $columns from " . Schema::JOBS . " where ended is null and queue = ? and job >= ? and (job > ? or made > ?) and $where order by job, made limit " . self::PAGE;
        while (($page = Schema::rows($this->database, $sql, [$queue, $job, $job, $made, ...$values])) !== []) {
            yield $page;
            ['job' => $job, 'made' => $made] = $page[count($page) - 1];
        }
    }

    /** The receipt of a job that has none of the outbox: a UUIDv7 as those, and always the same. @param array<string, int|float|string|null> $row */
    private static function receipt(string $queue, array $row): string
    {
        $hash = hash('xxh128', "$queue $row[job] $row[made]");

        return substr(Row::idAt((int) $row['made']), 0, 15) . substr($hash, 0, 3) . '-8' . substr($hash, 3, 3) . '-' . substr($hash, 6, 12);
    }

    /**
     * @param array<string, list<int|string|null>> $conditions with their values; one whose value is null does not count
     *
     * @return array{string, list<int|string>}
     */
    private static function where(array $conditions): array
    {
        $conditions = array_filter($conditions, static fn (array $values): bool => $values[0] !== null);

        return [implode(' and ', ['1 = 1', ...array_keys($conditions)]), array_merge(...array_values($conditions))];
    }

    /** It takes one look at the index for each. @return list<string> */
    private function queues(): array
    {
        $jobs = Schema::JOBS;
        // MariaDB would read all rows for the recursion, and the others for the DISTINCT.
        $sql = $this->dialect === Dialect::MySql ? "select distinct queue from $jobs" : "with recursive q (queue) as (select min(queue) from $jobs"
            . " union all select (select min(j.queue) from $jobs j where j.queue > q.queue) from q where q.queue is not null) select queue from q where queue is not null";

        return array_map(strval(...), array_column(Schema::rows($this->database, $sql . Dialect::ALL), 'queue'));
    }

    /**
     * @param list<int|string> $values
     *
     * @return list<JobRecord>
     */
    private function records(string $where, array $values): array
    {
        $columns = "queue, job, made, due, {$this->dialect->column('payload')}, state, attempts, began, ended, worker, error, runs, options";

        return array_map(fn (array $row): JobRecord => JobRecord::read($row, $this->dialect), Schema::rows($this->database, "select $columns from " . Schema::JOBS . " where $where", $values));
    }
}
