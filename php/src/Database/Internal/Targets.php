<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use Closure;
use DateTimeImmutable;
use DelayQueue;
use DelayQueue\Database\RowEnds;
use DelayQueue\Exception;
use DelayQueue\JobInfo;
use DelayQueue\PreparedJob;
use DelayQueue\QueueInterface;
use UnexpectedValueException;

/**
 * The queues that rows go to, by name, and how rows go there.
 *
 * @internal
 */
final class Targets
{
    /** The payloads are bytes, and were checked when they came into the table. */
    public const OPTIONS = ['format' => 'raw', 'maxPayload' => 512 << 20];

    private readonly Closure $make;

    /** Null: nobody wants to hear of them. */
    private readonly ?RowEnds $ends;

    /** @var array<array-key, QueueInterface> by their names, as the application makes them */
    private array $queues = [];

    /** @var array<array-key, array{QueueInterface, PreparedJob}> by their names, for rows, with a job that shows how they store one */
    private array $raw = [];

    /**
     * @param (callable(string): QueueInterface)|null $make null: new DelayQueue($name)
     * @param array<string, mixed> $options of DelayQueue: how rows go there
     */
    public function __construct(?callable $make, private readonly array $options = [])
    {
        $this->ends = $make instanceof RowEnds ? $make : null;
        $this->make = $make === null ? static fn (string $name): QueueInterface => new DelayQueue($name) : $make(...);
    }

    /** The application's queue. */
    public function queue(string $name): QueueInterface
    {
        return $this->queues[$name] ??= ($this->make)($name);
    }

    /**
     * Each push is one for ever, by its receipt.
     *
     * @param list<Row> $rows of one queue, in order
     * @param string $source the word of the database
     * @param callable(Row): (float|DateTimeImmutable) $delay when the row is due in Redis
     * @param bool $isFlush the rows have just been committed
     * @param bool $tellsOfKept false: the caller does
     *
     * @return int<0, max> how many were kept out, because their ids were taken
     *
     * @throws Exception
     * @throws UnexpectedValueException when the queue would store a row in another way than its producer
     */
    public function deliver(
        string $name,
        array $rows,
        string $source,
        callable $delay,
        bool $isFlush = false,
        bool $tellsOfKept = true,
    ): int {
        [$queue, $own] = $this->raw($name);
        $items = [];
        $kept = 0;
        foreach ($rows as $row) {
            if (($misfit = $row->misfit($own)) !== null) {
                throw new UnexpectedValueException($misfit);
            }
            if (!$row->isCancellation() && !$this->mayEndJobs($row)) {
                $items[] = $row->item($source, $delay($row));
                continue;
            }
            $kept += $items === [] ? 0 : $queue->pushOnce($items)->kept;
            $items = [];
            if ($row->isCancellation()) {
                $isFlush ? $this->cancelNow($queue, $row, $source) : $this->cancelLater($queue, $row, $source);
            } else {
                $kept += $this->pushAlone($queue, $row, $row->item($source, $delay($row)), $tellsOfKept);
            }
        }

        return $kept + ($items === [] ? 0 : $queue->pushOnce($items)->kept);
    }

    private function mayEndJobs(Row $row): bool
    {
        return $this->ends !== null && ($row->isReplacing() || $this->ends->concerns($row->body));
    }

    /**
     * @param array<string, mixed> $item
     *
     * @return int<0, 1> 1: it was kept out
     */
    private function pushAlone(QueueInterface $queue, Row $row, array $item, bool $tellsOfKept): int
    {
        $old = $row->isReplacing() ? $queue->peek($row->job) : null;
        $answer = $queue->pushOnce([$item]);
        if ($answer->added > 0 && $old !== null) {
            $this->ends?->replaced($old, $row->body);
        }
        if ($answer->kept > 0 && $tellsOfKept && $this->ends?->concerns($row->body)) {
            $this->ends->kept($row->queue, $row->job, $row->body);
        }

        return $answer->kept;
    }

    private function cancel(QueueInterface $queue, ?JobInfo $job, string $id): void
    {
        if ($this->ends !== null && $job !== null) {
            $this->ends->cancel($queue, $job);
        } else {
            $queue->cancel($id);
        }
    }

    /** The receipt keeps the relay from doing it again, when the id may be another job's; but a push of the row that was deleted may be under way. */
    private function cancelNow(QueueInterface $queue, Row $row, string $source): void
    {
        $this->cancel($queue, $this->ends === null ? null : $queue->peek($row->job), $row->job);
        $row->hasDeleted() || $queue->pushOnce([['receipt' => "$source/$row->id"]]);
    }

    /** Meanwhile there may be a newer job of this id. */
    private function cancelLater(QueueInterface $queue, Row $row, string $source): void
    {
        if ($queue->pushOnce([['receipt' => "$source/$row->id"]])->known > 0) {
            return;
        }
        try {
            $job = $queue->peek($row->job);
            if ($job !== null && round($job->createdAt * 1000) < $row->madeMs()) {
                $this->cancel($queue, $job, $row->job);
            }
        } catch (Exception $error) {
            $queue->forgetReceipts("$source/$row->id");
            throw $error;
        }
    }

    /** @return array{QueueInterface, PreparedJob} the queue as rows go to it, and how it stores a job */
    public function raw(string $name): array
    {
        if (!isset($this->raw[$name])) {
            $raw = $this->queue($name)->sibling($name, self::OPTIONS + $this->options);
            $this->raw[$name] = [$raw, $raw->prepare('')];
        }

        return $this->raw[$name];
    }
}
