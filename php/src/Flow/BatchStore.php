<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use Closure;
use DelayQueue\Exception;
use DelayQueue\Internal\Moment;
use DelayQueue\JobInfo;
use DelayQueue\LeaseLostException;
use DelayQueue\NewJob;
use DelayQueue\QueueInterface;
use DelayQueue\SealException;
use DelayQueue\State;
use WeakMap;

/**
 * Of a batch the queue `batches` has: its definition, a job with the batch's name as id, and for each member that is not done a marker, a job
 * of the batch's group. Both are due in ten years. A group lies in one place, so the number of its markers is one atomic look.
 *
 * Only a process that holds the definition (hold()) changes it or adds markers. It changes the definition under its lease, so a process that stood still
 * while another one took over cannot. Anybody may cancel the marker of a member that is done: no marker comes back, because its id stays taken.
 *
 * @internal
 */
final class BatchStore
{
    public const QUEUE = 'batches';

    /** Ids of definitions, and of the jobs that a batch pushes, stay taken for so long: then nobody starts a batch, or calls back, twice. */
    public const TAKEN = '30d';

    /** Long enough for a job that adds members to fail and come back: it adds the same ones once. */
    private const MARKER_TAKEN = '1d';

    /** The group of all definitions. No batch has this name, because it has a slash. */
    private const ALL = '/batches';

    private const NEVER = '3650d';

    private const TTR = 5;

    /** How long a process waits for the one that holds the batch. If that died, its lease ends before. */
    private const PATIENCE = 2 * self::TTR;

    /** The queue is the same for all queues and workers, whatever their own options are. */
    private const OPTIONS = [
        'partitions' => 1, 'format' => 'json', 'maxPayload' => 512 << 20, 'capacity' => null, 'priority' => 1024, 'ttr' => self::TTR, 'maxAttempts' => 0,
    ];

    private const PAGE = 200;

    public readonly QueueInterface $home;

    /** @var WeakMap<QueueInterface, QueueInterface>|null the queue `batches` of each queue object: one that is not persistent has a connection of its own */
    private static ?WeakMap $homes = null;

    public function __construct(public readonly QueueInterface $queue, public readonly string $name)
    {
        $this->home = self::home($queue);
    }

    /** @return list<string> the names of all batches that this queue has the keys of */
    public static function names(QueueInterface $queue): array
    {
        return Unfinished::ids(self::home($queue), self::ALL);
    }

    public function definition(): ?BatchDefinition
    {
        $info = $this->home->peek($this->name);
        if ($info?->sealError !== null) {
            throw new SealException("batch '$this->name' cannot be read, so its workers need the keys of the queue that started it: $info->sealError");
        }

        return $info === null ? null : BatchDefinition::of($info->payload);
    }

    /** @return bool false: the name is taken */
    public function define(BatchDefinition $batch): bool
    {
        return $this->home->tryPush(new NewJob($batch->payload(), delay: self::NEVER, id: $this->name, unique: self::TAKEN, group: self::ALL)) !== null;
    }

    /** How many members are not done. */
    public function waiting(): int
    {
        return $this->home->groupStats($this->name)->waiting;
    }

    /**
     * @param string $of '' or what stands for the add()
     */
    public function marker(string $member, string $queue, string $of): NewJob
    {
        return new NewJob([$queue, $of], delay: self::NEVER, id: "$this->name/$member", unique: self::MARKER_TAKEN, group: $this->name);
    }

    public function peekMarker(string $member): ?JobInfo
    {
        return $this->home->peek("$this->name/$member");
    }

    /** Whether a job that was found under the id of a member is that member. */
    public function isMember(?JobInfo $job): bool
    {
        return ($job?->headers[Batch::HEADER] ?? null) === $this->name;
    }

    /** A member is done. */
    public function unmark(string ...$members): int
    {
        return $this->home->cancel(...array_map(fn (string $member): string => "$this->name/$member", array_values($members)));
    }

    /**
     * The first members that are not done.
     *
     * @return array<array-key, array{string, string}> queues, and what stands for the add(), by the ids of members
     */
    public function page(): array
    {
        return $this->members($this->home->list(State::Delayed, limit: self::PAGE, group: $this->name));
    }

    /**
     * All members that are not done, page by page. The list of a group has no place to go on from, so it goes through the queue from the first marker of
     * the batch on, until it has seen as many as there are.
     *
     * @return iterable<array<array-key, array{string, string}>> as page() has them
     */
    public function pages(): iterable
    {
        $left = $this->waiting();
        $jobs = $this->home->list(State::Delayed, limit: 1, group: $this->name);
        while ($jobs !== []) {
            $members = $this->members($jobs);
            if ($members !== []) {
                yield $members;
            }
            $left -= count($members);
            $jobs = $left <= 0 ? [] : $this->home->list(State::Delayed, limit: self::PAGE, after: end($jobs));
        }
    }

    /** The queue of a member, as workers and producers of this batch have it. */
    public function target(BatchDefinition $batch, string $queue): QueueInterface
    {
        return $this->queue->sibling($queue, ['partitions' => $batch->queues[$queue] ?? 1]);
    }

    /**
     * Calls it while no other process can do the same.
     *
     * @template T
     *
     * @param Closure(BatchLock): T $do
     * @param Closure(): bool|null $unless asked before each try to hold it
     *
     * @return T|null null: there is no such batch, or $unless said so
     *
     * @throws BatchHeld
     */
    public function hold(Closure $do, ?Closure $unless = null): mixed
    {
        $deadline = hrtime(true) + (int) (self::PATIENCE * 1e9);
        do {
            // The look comes first, because reserveJob() buries a job that it cannot open.
            if ($unless !== null && $unless() || $this->definition() === null) {
                return null;
            }
            $job = $this->home->reserveJob($this->name);
            if ($job === null) {
                hrtime(true) < $deadline || throw new BatchHeld("batch '$this->name' is held by another process: call again");
                usleep(10_000);
            }
        } while ($job === null);
        try {
            $job->keepAlive();

            return $do(new BatchLock($job));
        } catch (LeaseLostException $error) {
            throw new BatchHeld("batch '$this->name' was taken over by another process, while this one stood still: call again", 0, $error);
        } finally {
            try {
                // To its old place, so that names() finds it there.
                $job->isSettled() || $job->release(Moment::of($job->dueAt), countAttempt: false);
            } catch (Exception) {
                // Its lease ends.
            }
        }
    }

    /** Calls back if every member is done. To be called whenever the last one may have been. */
    public function close(): void
    {
        $this->hold(function (BatchLock $lock): void {
            $batch = $lock->batch;
            $isOver = $batch->stage === BatchStage::Closed
                || ($batch->stage === BatchStage::Open || $batch->stage === BatchStage::Members) && $this->waiting() === 0;
            if (!$isOver) {
                return;
            }
            if ($batch->stage !== BatchStage::Closed) {
                // From here on no add() is let in, also if this process dies or stands still.
                $batch->stage = BatchStage::Closed;
                $lock->save();
            }
            if ($batch->then !== null) {
                BatchCall::push($batch->then, $this->queue, []);
            }
            $lock->end();
        }, unless: fn (): bool => $this->waiting() > 0);
    }

    private static function home(QueueInterface $queue): QueueInterface
    {
        self::$homes ??= new WeakMap();

        return self::$homes[$queue] ??= $queue->sibling(self::QUEUE, self::OPTIONS);
    }

    /**
     * @param list<JobInfo> $jobs
     *
     * @return array<array-key, array{string, string}> see page()
     */
    private function members(array $jobs): array
    {
        $members = [];
        foreach ($jobs as $job) {
            if ($job->group === $this->name) {
                $members[substr($job->id, strlen($this->name) + 1)] = $job->payload;
            }
        }

        return $members;
    }
}
