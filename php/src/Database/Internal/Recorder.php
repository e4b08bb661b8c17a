<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use Closure;
use DelayQueue\Bury;
use DelayQueue\Database\Connection;
use DelayQueue\Database\Schema;
use DelayQueue\Event;
use DelayQueue\Internal\Excerpt;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use Throwable;
use WeakMap;

/**
 * Hears of the ends of runs, and writes them by batches. A database that fails never stops the worker.
 *
 * @internal
 */
final class Recorder
{
    /** Bytes of one statement, and of all that waits while the database is away: further ones push out the oldest. */
    private const STATEMENT = 1 << 20;
    private const MOST_BYTES = 16 << 20;
    private const MOST_BATCHES = 50;

    private const LONGEST_ERROR = 2000;

    private const EVENTS = [Event::Succeeded, Event::Released, Event::Failed, Event::Buried, Event::TimedOut, Event::Cancelled, Event::LeaseLost];

    /** @var int<0, max> jobs whose end could not be written */
    public int $lost = 0;

    /** @var array<string, array<string, int|string|null>> what is to be written, by job */
    private array $rows = [];

    private int $bytes = 0;

    private bool $isFailing = false;

    /** When the next statement may be written, by hrtime(). */
    private int $nextAt = 0;

    /** @var WeakMap<JobInterface, int> when the runs began that have ended, in microseconds */
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
                $this->flushIfDue();
            });
        }
        $queue->on(Event::Idle, fn () => $this->flushIfDue(isIdle: true));
        $queue->on(Event::WorkerStopping, fn () => $this->flush());
    }

    /** @return bool false: the database has failed, and what is left is tried again */
    public function flush(): bool
    {
        $began = hrtime(true);
        $this->nextAt = $began + (int) ($this->atMost * 1e9);
        while ($this->rows !== []) {
            $chunk = $this->chunk();
            $this->rows = array_diff_key($this->rows, $chunk);
            // In one order for all workers, so that no two of them wait for each other.
            ksort($chunk, SORT_STRING);
            try {
                $this->database->execute(...History::upsert(array_values($chunk), $this->dialect));
            } catch (Throwable $error) {
                // Behind the others, so that one that can never be written does not hold them up.
                $this->rows += $chunk;
                $this->shorten();
                $this->isFailing = true;
                // A server that does not even refuse takes a fifth of the worker's time at most.
                $this->nextAt = max($this->nextAt, hrtime(true) + 4 * (hrtime(true) - $began));
                ($this->report)('the journal waits for its database', Schema::explained($error));

                return false;
            }
        }
        $this->bytes = 0;
        $this->isFailing = false;

        return true;
    }

    private function flushIfDue(bool $isIdle = false): void
    {
        $isFull = $isIdle || count($this->rows) >= $this->batch || $this->bytes > self::STATEMENT;
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
        $row = History::row($job, $state, $began, in_array($state, ['done', 'cancelled', 'gone'], true) ? $now : null);
        if ($state === 'released') {
            $row['due'] = $error instanceof Release ? (int) ($error->delay * 1e6) : 0;
        }
        if ($raw !== null) {
            $prepared = $raw->prepare($job->body, Moment::of($job->dueAt), $job->id, $job->priority, $job->ttr, $job->maxAttempts, headers: $job->headers);
            $row['payload'] = $job->body;
            $row['options'] = json_encode(Row::ofJob('', $job->queue, $prepared)->options, JSON_THROW_ON_ERROR | JSON_PRESERVE_ZERO_FRACTION);
        }
        $row['error'] = self::text($error);
        $this->keep($row, ($now - $began) / 1e6);
    }

    /** Of a job that was cancelled, that another worker has ended, or that is still there: null. */
    private function stateWithoutLease(QueueInterface $queue, JobInterface $job): ?string
    {
        if (isset($this->cancelled[$job])) {
            return 'cancelled';
        }
        $found = ($job->queue === $queue->name() ? $queue : $queue->sibling($job->queue))->peek($job->id);

        return $found !== null && round($found->createdAt * 1000) === round($job->createdAt * 1000) ? null : 'gone';
    }

    /** @param array<string, int|string|null> $row */
    private function keep(array $row, float $seconds): void
    {
        $run = [$row['attempts'], $row['began'], $seconds, $row['state'], $row['worker'], null];
        $length = 240;
        do {
            $run[5] = $row['error'] === null ? null : Excerpt::of(strtok($row['error'], "\n"), $length -= 40);
            $line = json_encode($run, JSON_UNESCAPED_SLASHES | JSON_THROW_ON_ERROR) . "\n";
        } while (strlen($line) > History::LONGEST_RUN && $length > 0);
        $key = "$row[queue]\0$row[job]\0$row[made]";
        $old = $this->rows[$key] ?? ['state' => null, 'runs' => ''];
        if (in_array($old['state'], ['done', 'cancelled'], true)) {
            $row = $old;
        }
        $row['runs'] = substr($line . $old['runs'], 0, History::LONGEST);
        $this->rows[$key] = $row;
        $this->bytes += self::size($row);
    }

    private static function text(?Throwable $error): ?string
    {
        $text = match (true) {
            $error === null => '',
            // The handler's wish, and no error.
            $error instanceof Release, $error instanceof Bury => $error->getMessage(),
            default => $error::class . ": {$error->getMessage()}",
        };
        $utf8 = json_decode((string) json_encode(substr($text, 0, self::LONGEST_ERROR), JSON_INVALID_UTF8_SUBSTITUTE));

        return trim(str_replace("\0", '', $utf8)) ?: null;
    }

    /** @return array<string, array<string, int|string|null>> the oldest rows, for one statement */
    private function chunk(): array
    {
        [$chunk, $bytes] = [[], 0];
        foreach ($this->rows as $key => $row) {
            $bytes += self::size($row);
            if ($chunk !== [] && (count($chunk) >= $this->batch || $bytes > self::STATEMENT)) {
                break;
            }
            $chunk[$key] = $row;
        }

        return $chunk;
    }

    private function shorten(): void
    {
        $this->bytes = array_sum(array_map(self::size(...), $this->rows));
        while (count($this->rows) > self::MOST_BATCHES * $this->batch || $this->bytes > self::MOST_BYTES) {
            $this->bytes -= self::size(array_shift($this->rows));
            $this->lost++;
        }
    }

    /** @param array<string, int|string|null> $row */
    private static function size(array $row): int
    {
        return 200 + strlen((string) $row['payload']) + strlen((string) $row['options']) + strlen((string) $row['error']) + strlen((string) $row['runs']);
    }
}
