<?php

declare(strict_types=1);

namespace DelayQueue\Database\Internal;

use Closure;
use DateTimeImmutable;
use DelayQueue\Exception;
use DelayQueue\PreparedJob;
use DelayQueue\QueueInterface;
use DelayQueue\Queues;
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

    /** @var array<array-key, QueueInterface> by their names, as the application makes them */
    private array $queues = [];

    /** @var array<array-key, array{QueueInterface, PreparedJob}> by their names, for rows, with a job that shows how they store one */
    private array $raw = [];

    /**
     * @param (callable(string): QueueInterface)|null $make null: Queues::open()
     * @param array<string, mixed> $options of DelayQueue: how rows go there
     */
    public function __construct(?callable $make, private readonly array $options = [])
    {
        $this->make = $make === null ? static fn (string $name): QueueInterface => Queues::open($name) : $make(...);
    }

    /** The application's queue. */
    public function queue(string $name): QueueInterface
    {
        return $this->queues[$name] ??= ($this->make)($name);
    }

    /**
     * Each push is one for ever, by its receipt. A cancellation takes no job that was made after it: it may be carried out again later.
     *
     * @param list<Row> $rows of one queue, in order
     * @param string $source the word of the database
     * @param callable(Row): (float|DateTimeImmutable) $delay when the row is due in Redis
     * @param int $graceMs a cancellation takes jobs that were made up to so many milliseconds later
     *
     * @return int<0, max> how many were kept out, because their ids were taken
     *
     * @throws Exception
     * @throws UnexpectedValueException when the queue would store a row in another way than its producer
     */
    public function deliver(string $name, array $rows, string $source, callable $delay, int $graceMs = 0): int
    {
        [$queue, $own] = $this->raw[$name] ??= $this->open($name);
        $items = [];
        $kept = 0;
        foreach ($rows as $row) {
            if (($misfit = $row->misfit($own)) !== null) {
                throw new UnexpectedValueException($misfit);
            }
            if (!$row->isCancellation()) {
                $items[] = $row->item($source, $delay($row));
                continue;
            }
            $kept += $items === [] ? 0 : $queue->pushOnce($items)->kept;
            $items = [];
            $job = $queue->peek($row->job);
            if ($job !== null && round($job->createdAt * 1000) < $row->madeMs() + $graceMs) {
                $queue->cancel($row->job);
            }
        }

        return $kept + ($items === [] ? 0 : $queue->pushOnce($items)->kept);
    }

    /** @return array{QueueInterface, PreparedJob} */
    private function open(string $name): array
    {
        $raw = $this->queue($name)->sibling($name, self::OPTIONS + $this->options);

        return [$raw, $raw->prepare('')];
    }
}
