<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use Closure;
use DateInterval;
use DelayQueue\ConnectionException;
use DelayQueue\Event;
use DelayQueue\Internal\Seconds;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\ServerException;
use DelayQueue\StopReason;
use InvalidArgumentException;
use Throwable;
use ValueError;
use WeakMap;

/**
 * A handler that gets many jobs in one call, with its own loop:
 *
 *     Chunk::of(100, within: '200ms', handler: function (array $jobs, QueueInterface $queue) use ($index): void {
 *         $index->addAll(array_map(static fn (JobInterface $job): array => $job->payload, $jobs));
 *     })->consume($queue);
 *
 * The handler settles the jobs by its answer:
 *
 * - It returns anything but false or an array: all of them are done.
 * - It returns false, or throws: all of them fail, or are released or buried as the exception says.
 * - It returns an array with the ids of jobs as keys: each value settles its job, as if a handler of that job alone had returned or thrown it. Jobs that
 *   the array leaves out are done. A key that is no id of the chunk is a mistake, and all jobs fail.
 *
 * Jobs that the handler has settled itself are left alone. All jobs of a chunk are of one queue.
 *
 * A chunk fails as a whole where one of its jobs makes the handler throw or ends its process. The others come back with it, by the backoff of each. But a job
 * comes alone in its last attempt, and after its lease has ended once, so no job is buried because of another one, unless its retryUntil comes first.
 *
 * `delayqueue work` and `delayqueue drain` run a Chunk that the file of the handler returns.
 */
final class Chunk
{
    private const MAX_JOBS = 500;

    /** Seconds. A worker that is told to end fills its chunk before. */
    private const LONGEST_WAIT = 60.0;

    /** Listeners of these are told by the chunk, of all others by the queue. */
    private const OF_JOBS = [
        Event::Processing, Event::Succeeded, Event::Released, Event::Failed, Event::Buried, Event::TimedOut, Event::LeaseLost, Event::Cancelled,
    ];

    private readonly Listeners $listeners;

    private bool $isConsuming = false;

    /** @var list<array{Event, Closure}> */
    private array $ofWorker = [];

    /** @var WeakMap<QueueInterface, int> how many of them each queue has */
    private readonly WeakMap $told;

    /** @param Closure(list<JobInterface>, QueueInterface): mixed $handler */
    private function __construct(private readonly int $size, private readonly float $within, private Closure $handler)
    {
        [$this->listeners, $this->told] = [new Listeners(), new WeakMap()];
    }

    /**
     * @param int<1, 500> $size how many jobs at most
     * @param int|float|string|DateInterval $within how long the first job may wait for others, at most 60 s; 0: ready jobs come together
     * @param callable(list<JobInterface>, QueueInterface): mixed $handler
     *
     * @throws ValueError
     */
    public static function of(int $size, int|float|string|DateInterval $within, callable $handler): self
    {
        $size >= 1 && $size <= self::MAX_JOBS || throw new ValueError(self::class . '::of(): Argument #1 ($size) must be between 1 and ' . self::MAX_JOBS);
        $seconds = Seconds::of($within, self::class . '::of', 'Argument #2 ($within)');
        $seconds <= self::LONGEST_WAIT || throw new ValueError(self::class . '::of(): Argument #2 ($within) must be at most ' . self::LONGEST_WAIT . ' s');
        try {
            Signature::ofChunk($handler, 'it');
        } catch (InvalidArgumentException $error) {
            throw new ValueError(self::class . "::of(): Argument #3 (\$handler) must take a list of jobs, and a queue: {$error->getMessage()}");
        }

        return new self($size, $seconds, $handler(...));
    }

    /**
     * As on() of a queue. Listeners of jobs hear of each job of a chunk; $seconds is how long the handler of the chunk ran. Event::Cancelled is not told.
     *
     * @param callable(Event, ?JobInterface, ?Throwable, ?float): void $listener
     *
     * @return $this
     */
    public function on(Event $event, callable $listener): static
    {
        if (in_array($event, self::OF_JOBS, true)) {
            $this->listeners->add($event, $listener(...));
        } else {
            $this->ofWorker[] = [$event, $listener(...)];
        }

        return $this;
    }

    /**
     * Works until there is a reason to stop: DelayQueue::consume() for chunks. Signals, orders to workers, stop(), a Redis that is away, and the parameters
     * mean the same. A time limit is for the whole chunk, with the time in which it fills: that of its first job, else $timeout.
     *
     * @param int<0, max> $maxJobs it counts jobs, and the last chunk is made smaller
     * @param int|float|string|DateInterval $maxTime
     * @param int<0, max>|non-empty-string $memoryLimit
     * @param bool $stopWhenEmpty then it does not wait for a chunk to fill
     * @param int|float|string|DateInterval $timeout
     * @param int|float|string|DateInterval $graceTimeout
     * @param int|float|string|DateInterval $shutdownTimeout
     *
     * @throws ValueError
     * @throws ConnectionException|ServerException as consume() of the queue
     */
    public function consume(
        QueueInterface $queue,
        int|float $idleTimeout = 5,
        int $maxJobs = 0,
        int|float|string|DateInterval $maxTime = 0,
        int|string $memoryLimit = 0,
        bool $stopWhenEmpty = false,
        int|float|string|DateInterval $timeout = 0,
        int|float|string|DateInterval $graceTimeout = 5,
        bool $heartbeat = true,
        int|float|string|DateInterval $shutdownTimeout = 0,
    ): StopReason {
        $maxJobs >= 0 || throw new ValueError(self::class . '::consume(): Argument #3 ($maxJobs) must be greater than or equal to 0');
        $this->tell($queue);
        $within = $stopWhenEmpty ? 0.0 : $this->within;
        $limit = Seconds::of($timeout, self::class . '::consume', 'Argument #7 ($timeout)');
        $run = new ChunkRun($this->handler, $this->listeners, $this->size, $within, $limit, $maxJobs, $heartbeat);
        $this->isConsuming = true;
        try {
            // The loop takes the first job of each chunk, and keeps its lease.
            $reason = $queue->consume(
                $run->handle(...),
                idleTimeout: $idleTimeout,
                maxTime: $maxTime,
                memoryLimit: $memoryLimit,
                stopWhenEmpty: $stopWhenEmpty,
                timeout: $timeout,
                graceTimeout: $graceTimeout,
                heartbeat: $heartbeat,
                shutdownTimeout: $shutdownTimeout,
            );
        } finally {
            $this->isConsuming = false;
        }

        return $run->ended($reason);
    }

    /**
     * Puts code around the handler.
     *
     * @param Closure(list<JobInterface>, QueueInterface, Closure): mixed $around gets the handler as its last argument
     *
     * @internal
     */
    public function around(Closure $around): void
    {
        $handler = $this->handler;
        $this->handler = static fn (array $jobs, QueueInterface $queue): mixed => $around($jobs, $queue, $handler);
    }

    /** Each listener once. */
    private function tell(QueueInterface $queue): void
    {
        if (!isset($this->told[$queue])) {
            // The loop buries a job that it cannot decode, before any handler has it.
            $queue->on(Event::Buried, fn (Event $event, mixed ...$of) => $this->isConsuming ? $this->listeners->emit($event, ...$of) : null);
        }
        foreach (array_slice($this->ofWorker, $this->told[$queue] ?? 0) as [$event, $listener]) {
            $queue->on($event, $listener);
        }
        $this->told[$queue] = count($this->ofWorker);
    }
}
