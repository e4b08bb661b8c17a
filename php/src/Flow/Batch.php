<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DateInterval;
use DelayQueue\ConnectionException;
use DelayQueue\DuplicateJobException;
use DelayQueue\Internal\Seconds;
use DelayQueue\JobInterface;
use DelayQueue\NewJob;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use DelayQueue\SealException;
use DelayQueue\ServerException;
use JsonException;
use TypeError;
use ValueError;

/**
 * Jobs that belong together, and a job that is pushed when all of them are done:
 *
 *     Batch::start(
 *         $queue,
 *         'import-7',
 *         [['payload' => 'rows-1.csv', 'id' => 'rows-1'], ['payload' => 'rows-2.csv', 'id' => 'rows-2', 'queue' => 'slow']],
 *         then: ['payload' => 'import-7', 'queue' => 'reports'],
 *     );
 *
 * The workers need TaskRouter, `delayqueue work`, or Follow around their handler. A member is done when its handler has returned, or when it is cancelled
 * by cancelMember(). One that is buried keeps the batch open, until it is kicked and done, or cancelled.
 *
 * @phpstan-import-type Duration from \DelayQueue
 *
 * @phpstan-type Item NewJob|array{payload: mixed, queue?: non-empty-string|QueueInterface, ...<string, mixed>}
 */
final class Batch
{
    /** Of a member: the name of its batch. */
    public const HEADER = 'dq-batch';

    /** Of the job of onFailure: see failure(). */
    public const FAILURE = 'dq-batch-failed';

    /** Members that a batch may have. Each takes a place in Redis beside its job. */
    public const MAX_MEMBERS = 100_000;

    /** The ids of what a batch pushes are its name and an end such as `/onFailure`. */
    private const MAX_NAME = 190;

    private readonly BatchStore $store;

    private function __construct(QueueInterface $queue, public readonly string $name, string $method)
    {
        $must = match (true) {
            $name === '' => 'must not be empty',
            strlen($name) > self::MAX_NAME => 'must be at most ' . self::MAX_NAME . ' bytes long',
            preg_match('~^[^/[:cntrl:]]+$~uD', $name) !== 1 => 'must be UTF-8, without control characters and slashes',
            default => null,
        };
        $must === null || throw new ValueError(self::class . "::$method(): Argument #2 (\$name) $must");
        $this->store = new BatchStore($queue, $name);
    }

    /**
     * Starts a batch. Called again with the same members after an error or a crash, it does what is missing.
     *
     * @param QueueInterface $queue of members that name none
     * @param non-empty-string $name of this batch alone: at most 190 bytes, without control characters and slashes. It stays taken for 30 days
     * @param iterable<Item> $jobs the members, as pushMany() takes jobs. Each has an id that no other job of its queue has, and no other member. In an array
     *     `queue` is the name of another queue, or an object, whose defaults and number of partitions count: of a NewJob, `['queue' => 'slow'] + (array) $job`
     * @param Item|null $then pushed once, when every member is done, under the id `import-7/then`: it has none of its own
     * @param Item|null $onFailure pushed once, when the first member is buried, under the id `import-7/onFailure`; failure() tells its handler which one
     *
     * @throws TypeError|ValueError when a job or a name is wrong, or the name is that of a batch that has other members, has ended or was cancelled:
     *     nothing is sent
     * @throws DuplicateJobException when another job has the id of a member: the batch is there without that member, until start() is called again when
     *     that job is gone, or cancel()
     * @throws BatchHeld|SealException|ConnectionException|ServerException
     */
    public static function start(
        QueueInterface $queue,
        string $name,
        iterable $jobs,
        NewJob|array|null $then = null,
        NewJob|array|null $onFailure = null,
    ): self {
        $batch = new self($queue, $name, 'start');
        (new BatchStart($batch->store, self::class . '::start(): Argument '))->run($jobs, $then, $onFailure);

        return $batch;
    }

    /**
     * A batch that was started, be it there or not.
     *
     * @param QueueInterface $queue any of the same Redis
     * @throws ValueError
     */
    public static function of(QueueInterface $queue, string $name): self
    {
        return new self($queue, $name, 'of');
    }

    /**
     * The names of all batches that have not ended, nor were cancelled.
     *
     * @param QueueInterface $queue any of the same Redis
     *
     * @return iterable<string> one that begins or ends meanwhile may be missing, and one that is sealed with other keys is
     *
     * @throws ConnectionException|ServerException
     */
    public static function names(QueueInterface $queue): iterable
    {
        return BatchStore::names($queue);
    }

    /**
     * Why the job of onFailure was pushed: the member that was buried, and its last error. Null for any other job.
     *
     * @return array{batch: string, id: string, queue: string, error: string}|null
     *
     * @throws JsonException when somebody has changed its header
     */
    public static function failure(JobInterface $job): ?array
    {
        return json_decode($job->headers[self::FAILURE] ?? 'null', true, flags: JSON_THROW_ON_ERROR);
    }

    /**
     * How far it is. Null: it has ended, or was cancelled, or never was.
     *
     * @throws SealException|ConnectionException|ServerException
     */
    public function progress(): ?BatchProgress
    {
        $batch = $this->store->definition();
        if ($batch === null) {
            return null;
        }

        return new BatchProgress($batch->total, $batch->stage === BatchStage::Markers ? $batch->total : $this->store->waiting());
    }

    /**
     * Waits until every member is done and `then` is pushed, or the batch is cancelled.
     *
     * @param Duration $timeout
     *
     * @return bool false: it has not ended in time
     *
     * @throws SealException|ConnectionException|ServerException
     */
    public function wait(int|float|string|DateInterval $timeout): bool
    {
        $deadline = hrtime(true) + (int) (Seconds::of($timeout, __METHOD__, 'Argument #1 ($timeout)') * 1e9);
        for ($pause = 10_000; $this->store->definition() !== null; $pause = min(2 * $pause, 250_000)) {
            $left = intdiv($deadline - hrtime(true), 1000);
            if ($left <= 0) {
                return false;
            }
            usleep(min($pause, $left));
        }

        return true;
    }

    /**
     * Adds members, as handlers of members do: the batch stays open while these run. Called again with the same members after an error or a crash, it does
     * what is missing; a member that the batch has had within the last day is not added again.
     *
     * @param iterable<Item> $jobs as of start()
     *
     * @return int<0, max> how many are new
     *
     * @throws BatchClosed when every member is done, or the batch was cancelled
     * @throws TypeError|ValueError|DuplicateJobException as start()
     * @throws BatchHeld|SealException|ConnectionException|ServerException
     */
    public function add(iterable $jobs): int
    {
        $what = self::class . '::add(): Argument #1 ($jobs)';

        return (new BatchAdd($this->store, $what))->run($jobs);
    }

    /**
     * Says that a member is done, in a loop of your own. Call it before ack(), so that a crash in between repeats it.
     *
     * @throws ValueError when it is no member of this batch
     * @throws Release when another process holds the batch for long: call again, or release the job
     * @throws DuplicateJobException when another job has the id of `then`: call again when it is gone
     * @throws SealException|ConnectionException|ServerException
     */
    public function done(JobInterface $job): void
    {
        if (($job->headers[self::HEADER] ?? null) !== $this->name) {
            throw new ValueError(self::class . "::done(): Argument #1 (\$job) must be a member of batch '$this->name'");
        }
        (new BatchStep($this->name))->succeeded($job, $this->store->queue, null);
    }

    /**
     * Cancels members, which counts as done: also buried ones. A worker that has one hears of it as of any cancelled job.
     *
     * @return int<0, max> how many
     *
     * @throws BatchHeld|SealException|ConnectionException|ServerException
     */
    public function cancelMember(string ...$ids): int
    {
        return (new BatchCare($this->store))->cancelMembers(array_values($ids));
    }

    /**
     * Cancels the batch: all members that are not done, and what would follow. Members that run go on; nobody waits for them.
     *
     * @return int<0, max> how many members were cancelled
     *
     * @throws BatchHeld|SealException|ConnectionException|ServerException
     */
    public function cancel(): int
    {
        return (new BatchCare($this->store))->cancel();
    }

    /**
     * Does what no event tells to do: pushes the job of onFailure for a member that Redis has buried by itself, because its worker died in the last attempt or
     * it expired, and counts members as done that are not in their queues, because they were cancelled by their ids, purged or moved. Say from cron.
     *
     * @return int<0, max> how many members it has counted as done; 0 also where a start() was cut off: only start() or cancel() goes on there
     *
     * @throws DuplicateJobException when another job has the id of `then` or that of onFailure
     * @throws BatchHeld|SealException|ConnectionException|ServerException
     */
    public function check(): int
    {
        return (new BatchCare($this->store))->check();
    }
}
