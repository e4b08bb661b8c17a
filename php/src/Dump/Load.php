<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DelayQueue;
use DelayQueue\Internal\StoredJob;
use DelayQueue\InvalidArgument;
use DelayQueue\PayloadException;
use UnexpectedValueException;
use ValueError;

/**
 * Puts the jobs of a dump back, with their past, the receipts of pushOnce(), the ids that are taken for some time, and limits:
 *
 *     foreach ((new Load('redis://new-host:6379/0'))->lines(new SplFileObject('orders.ndjson')) as $number => $isNew) {
 *         …
 *     }
 *
 * A job that was held comes back as if its lease had run out. Each line of a dump is loaded once: it leaves a receipt in the queue, whose name
 * begins with "load/". So another load of the same dump finishes one that was broken off, also into more partitions, and jobs that are done
 * meanwhile do not come back. Forget these receipts once all is loaded:
 *
 *     $queue->forgetReceipts(...$queue->receipts(prefix: Load::RECEIPTS, limit: PHP_INT_MAX));
 *
 * Limits leave no receipt: a group that has limits keeps them.
 */
final class Load
{
    /** The names of the receipts that a load gives to its lines begin with this. */
    public const RECEIPTS = 'load/';

    /** @var array<array-key, DelayQueue> by their names */
    private array $queues = [];

    /** @var array<array-key, array<string, mixed>> what limits() gave, by the names of the queues */
    private array $limits = [];

    private int $known = 0;

    private Wholeness $wholeness;

    /** @param array<string, mixed> $options of DelayQueue; with keys, jobs that are not sealed in the dump are sealed */
    public function __construct(
        #[\SensitiveParameter]
        private readonly ?string $dsn = null,
        #[\SensitiveParameter]
        private readonly array $options = [],
    ) {
        $this->wholeness = new Wholeness();
        new DelayQueue('default', $dsn, StoredJob::QUEUE + $options); // a mistake in them is not one of the first line
    }

    /**
     * Loads each line when its answer is asked for. Empty lines, and the last line of a dump, are passed over.
     *
     * @param iterable<array-key, string> $lines of Dump::lines()
     * @param non-empty-string|null $queue into this one; null: into those that the lines name
     *
     * @return iterable<array-key, bool> by the keys of the lines: true: it was loaded; false: it was loaded before, or its id, or limits
     *     of the group, are in the queue, and are left as they are
     *
     * @throws LineException at a line that cannot be loaded; those before it are
     * @throws DelayQueue\Exception
     */
    public function lines(iterable $lines, ?string $queue = null): iterable
    {
        $this->wholeness = new Wholeness();
        foreach ($lines as $key => $line) {
            if (trim($line) === '') {
                continue;
            }
            try {
                $fields = Fields::of($line);
                if ($this->wholeness->read($fields)) {
                    continue;
                }
                $isNew = $this->load(Line::read($fields), $queue);
            } catch (ValueError $error) {
                $isKnown = $error instanceof InvalidArgument;
                throw new LineException($key, $isKnown ? new ValueError(($error->key ?? $error->parameter) . " $error->reason", 0, $error) : $error);
            } catch (UnexpectedValueException|PayloadException $error) {
                throw new LineException($key, $error);
            }
            yield $key => $isNew;
        }
    }

    /** How many lines this object has not loaded because the queue has their receipts: an earlier load has met them. */
    public function known(): int
    {
        return $this->known;
    }

    /**
     * Faults of the dumps whose lines the last pass has read to its end: the last line is missing, or lines that it
     * counts.
     *
     * @return list<string> a sentence for each dump; none: all are whole
     */
    public function missing(): array
    {
        return $this->wholeness->faults();
    }

    private function load(Line $line, ?string $queue): bool
    {
        if ($line instanceof JobLine && $line->seal !== null && $queue !== null && $queue !== $line->queue) {
            throw new UnexpectedValueException("it is sealed for queue $line->queue, and no other queue could open it: dump it with its keys (dump --open)");
        }
        $name = $queue ?? $line->queue;
        $into = $this->queues[$name] ??= $this->open($name);
        if ($line instanceof LimitsLine) {
            $this->limits[$name] ??= $into->limits();

            return $line->set($into, $this->limits[$name]);
        }
        $item = $line->item($into->now(...));
        if ($item === null) {
            return false;
        }
        $done = $into->pushOnce([$item]);
        $this->known += $done->known;

        return $done->added > 0;
    }

    private function open(string $name): DelayQueue
    {
        $queue = new DelayQueue($name, $this->dsn, StoredJob::QUEUE + $this->options);
        [$known, $partitions] = [$queue->partitions(), $this->options['partitions'] ?? 1];
        if ($known > $partitions) {
            throw new UnexpectedValueException("queue $name has jobs in $known partitions, and this load knows of $partitions: set partitions (--partitions) to $known");
        }

        return $queue;
    }
}
