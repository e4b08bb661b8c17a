<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use Closure;
use DelayQueue\Bury;
use DelayQueue\Database\Connection;
use DelayQueue\Database\JobRecord;
use DelayQueue\Database\Schema;
use DelayQueue\Event;
use DelayQueue\Exception;
use DelayQueue\Internal\Excerpt;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInterface;
use DelayQueue\NewJob;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use Throwable;
use WeakMap;

/**
 * Hears how runs end, and writes it by batches. A database that fails does not stop the worker.
 *
 * @internal
 */
final class Recorder
{
    private const EVENTS = [Event::Succeeded, Event::Released, Event::Failed, Event::Buried, Event::TimedOut, Event::Cancelled, Event::LeaseLost];

    /** Bytes that are written at once; and what may wait for a database that fails. */
    private const FULL = 1 << 20;
    private const MOST_BYTES = 8 << 20;
    private const MOST_BATCHES = 50;

    /** @var int<0, max> jobs whose end could not be written */
    public int $lost = 0;

    /** @var array<string, array<string, int|string|null>> by job */
    private array $rows = [];

    private int $bytes = 0;

    private bool $isFailing = false;

    /** By hrtime(). */
    private int $nextAt = 0;

    /** @var WeakMap<JobInterface, int> when runs began, in microseconds */
    private WeakMap $began;

    /** @var WeakMap<JobInterface, true> */
    private WeakMap $cancelled;

    public function __construct(
        private readonly Connection $database,
        private readonly Dialect $dialect,
        private readonly int $batch,
        private readonly float $atMost,
        private readonly bool $payloads,
        private readonly Closure $report,
    ) {
        [$this->began, $this->cancelled] = [new WeakMap(), new WeakMap()];
    }

    public function listen(QueueInterface $queue): void
    {
        $raw = $this->payloads ? $queue->sibling($queue->name(), Targets::OPTIONS) : null;
        foreach (self::EVENTS as $event) {
            $queue->on($event, function (Event $event, ?JobInterface $job, ?Throwable $error = null, ?float $seconds = null) use ($queue, $raw): void {
                try {
                    $this->note($queue, $raw, $event, $job, $error, $seconds);
                } catch (Throwable $failure) {
                    $this->lost++;
                    ($this->report)("the journal cannot note job $job->id of queue $job->queue", $failure);
                }
                $this->flushIfDue(count($this->rows) >= $this->batch || $this->bytes > self::FULL);
            });
        }
        $queue->on(Event::Idle, fn () => $this->flushIfDue(true));
        $queue->on(Event::WorkerStopping, fn () => $this->flush());
    }

    /** @return bool false: the database has failed, and what is left is tried again */
    public function flush(): bool
    {
        $began = hrtime(true);
        // In one order for all workers, so that no two of them wait for each other.
        ksort($this->rows, SORT_STRING);
        try {
            foreach (array_chunk($this->rows, $this->batch, true) as $chunk) {
                $statement = History::upsert(array_values($chunk), $this->dialect);
                Autocommit::run($this->database, fn (): int => $this->database->execute(...$statement));
                $this->rows = array_diff_key($this->rows, $chunk);
            }
            [$this->bytes, $this->isFailing] = [0, false];
        } catch (Throwable $error) {
            $this->isFailing = true;
            ($this->report)("the journal waits for its database; $this->lost jobs are lost", Schema::explained($error));
        }
        // A server that does not even refuse gets a fifth of the worker's time at most.
        $this->nextAt = hrtime(true) + max((int) ($this->atMost * 1e9), $this->isFailing ? 4 * (hrtime(true) - $began) : 0);

        return !$this->isFailing;
    }

    private function flushIfDue(bool $isFull): void
    {
        if ($this->isFailing && (count($this->rows) > self::MOST_BATCHES * $this->batch || $this->bytes > self::MOST_BYTES)) {
            $this->lost += count($this->rows);
            [$this->rows, $this->bytes] = [[], 0];
        }
        if ($this->rows !== [] && (hrtime(true) >= $this->nextAt || $isFull && !$this->isFailing)) {
            $this->flush();
        }
    }

    private function note(QueueInterface $queue, ?QueueInterface $raw, Event $event, JobInterface $job, ?Throwable $error, ?float $seconds): void
    {
        if ($event === Event::Cancelled) {
            $this->cancelled[$job] = true;
        }
        $state = match (true) {
            // TimedOut has told of the failure.
            $event === Event::Cancelled, $event === Event::Failed && isset($this->began[$job]) => null,
            $event === Event::LeaseLost => $seconds === null ? null : $this->stateWithoutLease($queue, $job),
            default => $event === Event::Succeeded ? 'done' : $event->value,
        };
        if ($state === null) {
            return;
        }
        $now = (int) (microtime(true) * 1e6);
        $began = $this->began[$job] ??= $now - (int) ($seconds * 1e6);
        $row = History::row($job, $state, $began, in_array($state, JobRecord::ENDED, true) ? $now : null);
        if ($state === 'released') {
            $row['due'] = $error instanceof Release ? (int) (($error->delay ?? max(0, $error->dueAt - microtime(true))) * 1e6) : 0;
        }
        if ($raw !== null) {
            $like = array_intersect_key(get_object_vars($job), get_class_vars(NewJob::class));
            $prepared = $raw->prepare(['payload' => $job->body, 'delay' => Moment::of($job->dueAt)] + $like);
            $row['payload'] = $job->body;
            $row['options'] = json_encode(Row::ofJob('', $job->queue, $prepared, $raw->settings())->options, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION);
        }
        $row['error'] = self::text($error);
        $length = 240;
        do {
            $words = $row['error'] === null ? null : Excerpt::of(strtok($row['error'], "\n"), $length -= 40);
            $line = json_encode([$job->attempts, $began, ($now - $began) / 1e6, $state, $row['worker'], $words], JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR) . "\n";
        } while ($words !== null && $length > 0 && strlen($line) > History::LONGEST_RUN);
        $key = "$job->queue\0$job->id\0$row[made]";
        $old = $this->rows[$key] ?? ['state' => null, 'runs' => ''];
        $runs = substr($line . $old['runs'], 0, History::LONGEST);
        $this->rows[$key] = ['runs' => $runs] + (in_array($old['state'], ['done', 'cancelled'], true) ? $old : $row);
        $this->bytes += strlen("$row[payload]$row[options]$row[error]$line");
    }

    /** Null: it is still there, for another worker, or Redis does not answer. */
    private function stateWithoutLease(QueueInterface $queue, JobInterface $job): ?string
    {
        if (isset($this->cancelled[$job])) {
            return 'cancelled';
        }

        try {
            return History::isIn($job->queue === $queue->name() ? $queue : $queue->sibling($job->queue), $job->id, (int) round($job->createdAt * 1000)) ? null : 'gone';
        } catch (Exception) {
            return null;
        }
    }

    private static function text(?Throwable $error): ?string
    {
        // Release and Bury are the handler's wish.
        $text = $error === null ? '' : ($error instanceof Release || $error instanceof Bury ? '' : $error::class . ': ') . $error->getMessage();
        $utf8 = json_decode((string) json_encode(substr($text, 0, 2000), JSON_INVALID_UTF8_SUBSTITUTE));

        return trim(str_replace("\0", '', $utf8)) ?: null;
    }
}
