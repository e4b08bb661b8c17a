<?php

declare(strict_types=1);

namespace DelayQueue\Dump;

use DelayQueue;
use DelayQueue\PayloadException;
use UnexpectedValueException;
use ValueError;

/**
 * Puts the jobs of a dump back:
 *
 *     foreach ((new Load('redis://new-host:6379/0'))->lines(new SplFileObject('orders.ndjson')) as $number => $isNew) {
 *         …
 *     }
 *
 * It restores id, payload, headers, what a newer version has stored with the job, state, due time, priority, TTR, time limit, backoff, attempts,
 * their limit and the last error. A job that was held comes back as if its lease had run out. It does not restore the due time of buried jobs, the time of creation, the counters of the
 * history, and the last error of a job without attempts. A load that was broken off is finished by another one.
 */
final class Load
{
    /** The payloads are bytes, as large as any queue takes. */
    private const OPTIONS = ['format' => 'raw', 'maxPayload' => 512 << 20];

    /** @var array<array-key, Restorer> by the names of their queues */
    private array $restorers = [];

    /** @param array<string, mixed> $options of DelayQueue; with keys, jobs that are not sealed in the dump are sealed */
    public function __construct(
        #[\SensitiveParameter]
        private readonly ?string $dsn = null,
        #[\SensitiveParameter]
        private readonly array $options = [],
    ) {
        new DelayQueue('default', $dsn, self::OPTIONS + $options); // a mistake in them is not one of the first line
    }

    /**
     * Loads each line when its answer is asked for. Empty lines are passed over.
     *
     * @param iterable<array-key, string> $lines of Dump::lines()
     * @param non-empty-string|null $queue into this one; null: into those that the lines name
     *
     * @return iterable<array-key, bool> by the keys of the lines: true: it was loaded; false: its id is there already, and that job is left as it is
     *
     * @throws LineException at a line that cannot be loaded; those before it are
     * @throws DelayQueue\Exception
     */
    public function lines(iterable $lines, ?string $queue = null): iterable
    {
        foreach ($lines as $key => $line) {
            if (trim($line) === '') {
                continue;
            }
            try {
                $isNew = $this->restore(JobLine::read($line), $queue);
            } catch (UnexpectedValueException|ValueError|PayloadException $error) {
                throw new LineException($key, $error);
            }
            yield $key => $isNew;
        }
    }

    private function restore(JobLine $job, ?string $queue): bool
    {
        if ($job->seal !== null && $queue !== null && $queue !== $job->queue) {
            throw new UnexpectedValueException("it is sealed for queue $job->queue, and no other queue could open it: dump it with its keys (dump --open)");
        }
        $name = $queue ?? $job->queue;

        return ($this->restorers[$name] ??= new Restorer($this->open($name)))->restore($job);
    }

    private function open(string $name): DelayQueue
    {
        $queue = new DelayQueue($name, $this->dsn, self::OPTIONS + $this->options);
        [$known, $partitions] = [$queue->partitions(), $this->options['partitions'] ?? 1];
        if ($known > $partitions) {
            throw new UnexpectedValueException("queue $name has jobs in $known partitions, and this load knows of $partitions: set partitions (--partitions) to $known");
        }

        return $queue;
    }
}
