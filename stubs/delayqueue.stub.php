<?php

/**
 * The delayqueue extension, for IDEs and static analysers. PHP never loads this file.
 *
 * Durations are seconds (int, float, or a numeric string, '1e3' too), a duration string such as '500ms', '15m', '2h30m', '1d' or
 * 'PT15M', or a DateInterval. Units are w, d, h, m, s, ms and us, or their words ('15 minutes'); the smallest one may have a fraction ('1.5h').
 * Resolution is 1 ms, rounded up. Negative, NaN, infinite or > 100-year ones, and months and years, are a \ValueError.
 * A delay counts by Redis' clock, in microseconds. A DateTimeInterface is a moment on Redis' clock, so jobs for the same moment fall due together. $dueAt,
 * $reservedAt and $leaseUntil are by Redis' clock, $createdAt is by the producer's.
 *
 * Headers are an array<string, string> beside the payload, untouched by every script: trace context, content type, tenant … At most 64 of
 * them, names of 1..100 bytes of [A-Za-z0-9._-], values of valid UTF-8, 8 KiB of names and values together; anything else is a
 * \ValueError, and a value that is no string a \TypeError. As in every PHP array, a name such as '123' is the key 123.
 */

namespace DelayQueue {

    /**
     * The length of a duration in seconds, to the millisecond above.
     *
     * @param int|float|numeric-string|non-empty-string|\DateInterval $value
     * @throws InvalidArgument
     */
    function duration(int|float|string|\DateInterval $value): float {}

    /** A job is in exactly one state. */
    enum State: string
    {
        case Delayed = 'delayed';
        case Ready = 'ready';
        case Reserved = 'reserved';
        case Buried = 'buried';
    }

    /** For what a job waits: the first of these that holds it up, in this order. */
    enum WaitReason: string
    {
        /** Its time has not come. */
        case Delay = 'delay';
        /** The queue is closed, by pause() or rateLimit(). */
        case QueuePaused = 'queuePaused';
        /** Its group is closed until resume(). */
        case GroupPaused = 'groupPaused';
        /** Its group is closed for some time, by pause() or rateLimit(). */
        case GroupClosed = 'groupClosed';
        /** A job in front of it in its ordered group runs, or waits for its next attempt: $heldUpBy. */
        case GroupOrder = 'groupOrder';
        /** As many jobs of its group run as may. */
        case GroupConcurrency = 'groupConcurrency';
        /** Its group has had as many starts as it may for now. */
        case GroupRate = 'groupRate';
        /** The queue has: limitQueue(). */
        case QueueLimit = 'queueLimit';
        /** It is ready, and others come before it: $ahead. */
        case Line = 'line';
        /** A worker may take it now. */
        case Nothing = 'nothing';
    }

    /** The answer of push() to an id that is in the queue already, in any state, or that NewJob::$unique keeps taken. */
    enum OnDuplicate: string
    {
        /** Throws DuplicateJobException. */
        case Fail = 'fail';
        /** Leaves the old job untouched. */
        case Keep = 'keep';
        /** Overwrites payload, time and options, unless the job is reserved (DuplicateJobException). */
        case Replace = 'replace';
    }

    /** How a job ends that was not started in time: see NewJob::$expires. */
    enum OnExpiry: string
    {
        /** It is buried, with the error "expired". */
        case Bury = 'bury';
        /** It is removed. */
        case Drop = 'drop';
    }

    /** Why consume() returned. */
    enum StopReason: string
    {
        case Signal = 'signal';
        case MaxJobs = 'maxJobs';
        case MaxTime = 'maxTime';
        case MemoryLimit = 'memoryLimit';
        case Empty = 'empty';
        /** stop() was called. */
        case Stopped = 'stopped';
        /** An operator stopped it: WorkerOrder::Stop. */
        case Ordered = 'ordered';
        /** An operator wants a new process in its place: WorkerOrder::Restart. */
        case Restart = 'restart';
    }

    /** The orders of DelayQueue::tellWorkers(). */
    enum WorkerOrder: string
    {
        /** End as after SIGTERM: the job in hand is finished, those behind it are given back. */
        case Stop = 'stop';
        /** End as after SIGTERM, for a new process to take its place. */
        case Restart = 'restart';
        /** Take no jobs until Resume. The worker stays in the list. */
        case Pause = 'pause';
        case Resume = 'resume';
    }

    /** The events that a worker reports to its listeners. */
    enum Event: string
    {
        case WorkerStarting = 'workerStarting';
        /**
         * Redis has answered, the login is right, its user has every right that a worker needs, and no queue is of a newer version. While Redis
         * is away, the loop waits for it. Only a loop with such a listener takes this look, which takes no job.
         */
        case WorkerReady = 'workerReady';
        /**
         * No job came for $idleTimeout of consume(). Listeners run while the loop goes on waiting: they may use the queue (over a second
         * connection), but a job that falls due while they run waits for them, so they should be short.
         */
        case Idle = 'idle';
        case Processing = 'processing';
        case Succeeded = 'succeeded';
        /** The handler threw a Release or a RateLimited, or a job went back uncounted because its handler was ended by $shutdownTimeout of consume(). */
        case Released = 'released';
        case Failed = 'failed';
        case Buried = 'buried';
        case TimedOut = 'timedOut';
        /** The lease of a job that was handled is gone, or ended before Redis could confirm the end of the job: it may run again. */
        case LeaseLost = 'leaseLost';
        /**
         * The job was cancelled while its handler runs: told in the middle of the handler, within a second, where the heartbeat is on. LeaseLost
         * follows when the handler has ended.
         */
        case Cancelled = 'cancelled';
        case ConnectionLost = 'connectionLost';
        case ConnectionRestored = 'connectionRestored';
        case WorkerStopping = 'workerStopping';
    }

    /**
     * A queue as code that pushes and handles jobs needs it: type against it, decorate it, mock it in tests. It has every method of DelayQueue
     * but the few that are about Redis itself, with the same parameters; the methods are described there. Versions to come may add methods.
     *
     * @psalm-import-type Duration from \DelayQueue
     * @psalm-import-type Headers from \DelayQueue
     * @psalm-import-type JobOnce from \DelayQueue
     * @psalm-import-type JobArray from \DelayQueue
     * @psalm-import-type Options from \DelayQueue
     */
    interface QueueInterface extends \Countable
    {
        /**
         * @see \DelayQueue::sibling()
         * @param Options $options
         * @param non-empty-string $queue
         */
        public function sibling(string $queue, #[\SensitiveParameter] array $options = []): static;

        /**
         * @see \DelayQueue::push()
         * @param Headers $headers
         */
        public function push(
            mixed $payload,
            int|float|string|\DateInterval|\DateTimeInterface $delay = 0,
            ?string $id = null,
            ?int $priority = null,
            int|float|string|\DateInterval|null $ttr = null,
            ?int $maxAttempts = null,
            ?\DelayQueue\Backoff $backoff = null,
            int|float|string|\DateInterval|null $timeout = null,
            \DelayQueue\OnDuplicate $onDuplicate = \DelayQueue\OnDuplicate::Fail,
            array $headers = [],
            int|float|string|\DateInterval|null $unique = null,
            int|float|string|\DateInterval|null $maxWait = null,
            int|float|string|\DateInterval|\DateTimeInterface|null $expires = null,
            \DelayQueue\OnExpiry $onExpiry = \DelayQueue\OnExpiry::Bury,
            int|float|string|\DateInterval|\DateTimeInterface|null $retryUntil = null,
            ?string $group = null,
        ): string;

        /**
         * @see \DelayQueue::tryPush()
         * @param JobArray|NewJob $job
         */
        public function tryPush(\DelayQueue\NewJob|array $job): ?string;

        /**
         * @see \DelayQueue::pushMany()
         * @param iterable<JobArray|NewJob> $jobs
         * @return list<non-empty-string>
         */
        public function pushMany(iterable $jobs): array;

        /**
         * @see \DelayQueue::pushOnce()
         * @param iterable<JobOnce> $jobs
         */
        public function pushOnce(iterable $jobs): \DelayQueue\PushOnce;

        /**
         * @see \DelayQueue::prepare()
         * @param JobArray|NewJob $job
         */
        public function prepare(\DelayQueue\NewJob|array $job): \DelayQueue\PreparedJob;

        /**
         * @see \DelayQueue::receipts()
         * @param Duration $olderThan
         * @param positive-int $limit
         * @return list<non-empty-string>
         */
        public function receipts(int|float|string|\DateInterval $olderThan = 0, string $prefix = '', int $limit = 1000): array;

        /**
         * @see \DelayQueue::takenIds()
         * @return list<array{id: non-empty-string, until: float}>
         */
        public function takenIds(): array;

        /** @see \DelayQueue::forgetReceipts() */
        public function forgetReceipts(string ...$names): int;

        /**
         * @see \DelayQueue::producer()
         * @param array<array-key, mixed> $message
         * @param non-empty-string $member
         * @return true
         */
        public function producer(string $member, int|float $score, array $message): bool;

        /**
         * @see \DelayQueue::consumer()
         * @param positive-int $limit
         * @return list<mixed>
         */
        public function consumer(int|float|null $maxScore = null, int $limit = 10): array;

        /**
         * @see \DelayQueue::watch()
         * @return $this
         */
        public function watch(string ...$queues): static;

        /** @see \DelayQueue::reserve() */
        public function reserve(int|float|null $timeout = 0): ?\DelayQueue\JobInterface;

        /**
         * @see \DelayQueue::reserveMany()
         * @param positive-int $max
         * @return list<JobInterface>
         */
        public function reserveMany(int $max, int|float|null $timeout = 0): array;

        /** @see \DelayQueue::reserveJob() */
        public function reserveJob(string $id): ?\DelayQueue\JobInterface;

        /** @see \DelayQueue::wait() */
        public function wait(int|float|null $timeout = null): bool;

        /** @see \DelayQueue::ackMany() */
        public function ackMany(\DelayQueue\JobInterface ...$jobs): int;

        /**
         * @see \DelayQueue::consume()
         * @param (callable(JobInterface, static): mixed)|(callable(list<JobInterface>, static): mixed) $handler
         * @param (callable(JobInterface): ?string)|null $task
         * @param int<0, max> $maxJobs
         * @param Duration $maxTime
         * @param int<0, max>|non-empty-string $memoryLimit
         * @param int<1, 500> $prefetch
         * @param int<1, 500>|null $batch
         * @param Duration $within
         * @param Duration $timeout
         * @param Duration $graceTimeout
         * @param Duration $shutdownTimeout
         */
        public function consume(
            callable $handler,
            int|float $idleTimeout = 5,
            int $maxJobs = 0,
            int|float|string|\DateInterval $maxTime = 0,
            int|string $memoryLimit = 0,
            bool $stopWhenEmpty = false,
            int $prefetch = 1,
            int|float|string|\DateInterval $timeout = 0,
            int|float|string|\DateInterval $graceTimeout = 5,
            bool $heartbeat = true,
            bool $throwOnCancel = false,
            int|float|string|\DateInterval $shutdownTimeout = 0,
            ?int $batch = null,
            int|float|string|\DateInterval $within = 0,
            ?callable $task = null,
        ): \DelayQueue\StopReason;

        /**
         * @see \DelayQueue::drain()
         * @param callable(JobInterface, static): mixed $handler
         * @param int<0, max> $limit
         */
        public function drain(callable $handler, int $limit = 0): int;

        /** @see \DelayQueue::stop() */
        public function stop(): void;

        /**
         * @see \DelayQueue::on()
         * @param callable(Event, ?JobInterface, ?\Throwable, ?float): void $listener
         * @return $this
         */
        public function on(\DelayQueue\Event $event, callable $listener): static;

        /** @see \DelayQueue::peek() */
        public function peek(string $id): ?\DelayQueue\JobInfo;

        /** @see \DelayQueue::cancel() */
        public function cancel(string ...$ids): int;

        /** @param Duration|\DateTimeInterface $delay as of \DelayQueue::reschedule() */
        public function reschedule(string $id, int|float|string|\DateInterval|\DateTimeInterface $delay, bool $held = false): bool;

        /**
         * @see \DelayQueue::update()
         * @param array<array-key, string|null>|null $headers
         * @param Duration|\DateTimeInterface|null $delay
         */
        public function update(
            string $id,
            mixed $payload = null,
            ?array $headers = null,
            int|float|string|\DateInterval|\DateTimeInterface|null $delay = null,
            ?\DelayQueue\JobInfo $unchanged = null,
        ): bool;

        /** @see \DelayQueue::kickJob() */
        public function kickJob(string $id, bool $resetAttempts = true): bool;

        /** @see \DelayQueue::peekReady() */
        public function peekReady(): ?\DelayQueue\JobInfo;

        /** @see \DelayQueue::peekDelayed() */
        public function peekDelayed(): ?\DelayQueue\JobInfo;

        /** @see \DelayQueue::peekBuried() */
        public function peekBuried(): ?\DelayQueue\JobInfo;

        /**
         * @see \DelayQueue::list()
         * @param int<0, max> $offset
         * @param positive-int $limit
         * @param non-empty-string|null $group
         * @return list<JobInfo>
         */
        public function list(
            \DelayQueue\State $state,
            int $offset = 0,
            int $limit = 100,
            \DelayQueue\JobInfo|string|null $after = null,
            ?string $group = null,
        ): array;

        /** @see \DelayQueue::count() */
        public function count(?\DelayQueue\State $state = null): int;

        /**
         * @see \DelayQueue::countDue()
         * @return list<int<0, max>>
         */
        public function countDue(\DateTimeInterface ...$until): array;

        /** @param positive-int|null $max as of \DelayQueue::kick() */
        public function kick(?int $max = null, bool $resetAttempts = true): int;

        /**
         * @see \DelayQueue::pause()
         * @param Duration|null $for
         * @param non-empty-string|null $group
         */
        public function pause(int|float|string|\DateInterval|null $for = null, ?string $group = null): void;

        /** @param non-empty-string|null $group as of \DelayQueue::resume() */
        public function resume(?string $group = null): void;

        /** @param non-empty-string|null $group as of \DelayQueue::isPaused() */
        public function isPaused(?string $group = null): bool;

        /**
         * @see \DelayQueue::rateLimit()
         * @param Duration $for
         * @param non-empty-string|null $group
         */
        public function rateLimit(int|float|string|\DateInterval $for, ?string $group = null): void;

        /** @param non-empty-string|null $group as of \DelayQueue::limitGroups() */
        public function limitGroups(?string $group = null, ?\DelayQueue\GroupLimits $limits = null): void;

        /**
         * @see \DelayQueue::limitQueue()
         * @param int<1, 4294967295>|null $concurrency
         * @param non-empty-string|null $rate
         * @param int<1, 4294967295>|null $burst
         */
        public function limitQueue(?int $concurrency = null, ?string $rate = null, ?int $burst = null): void;

        /**
         * @see \DelayQueue::limits()
         * @return array{queue: GroupLimits|null, others: GroupLimits|null, groups: array<array-key, GroupLimits>}
         */
        public function limits(): array;

        /**
         * @see \DelayQueue::groups()
         * @param positive-int $limit
         * @return list<non-empty-string>
         */
        public function groups(int $limit = 100, string $after = ''): array;

        /** @param non-empty-string $group as of \DelayQueue::groupStats() */
        public function groupStats(string $group): \DelayQueue\GroupStats;

        /** @param non-empty-string $group as of \DelayQueue::cancelGroup() */
        public function cancelGroup(string $group, bool $reserved = false): int;

        /** @see \DelayQueue::purge() */
        public function purge(\DelayQueue\State ...$states): int;

        /** @see \DelayQueue::forget() */
        public function forget(): bool;

        /** @see \DelayQueue::stats() */
        public function stats(): \DelayQueue\Stats;

        /** @see \DelayQueue::now() */
        public function now(): float;

        /**
         * @see \DelayQueue::queues()
         * @return list<non-empty-string>
         */
        public function queues(): array;

        /** @see \DelayQueue::name() */
        public function name(): string;

        /** @see \DelayQueue::settings() */
        public function settings(): \DelayQueue\QueueSettings;
    }

    /**
     * A job in hand, as handlers need it. An interface cannot declare properties before PHP 8.4: each implementation has those of Job, public
     * and readonly, and there are no getters beside them.
     *
     * @property-read non-empty-string $id
     * @property-read non-empty-string $queue
     * @property-read mixed $payload
     * @property-read string $body
     * @property-read positive-int $attempts
     * @property-read int<0, max> $maxAttempts
     * @property-read int<0, 4294967295> $priority
     * @property-read float $ttr
     * @property-read float $createdAt by the clock of the producer's host
     * @property-read float $dueAt
     * @property-read float $reservedAt
     * @property-read positive-int $token
     * @property-read int<0, max> $timeouts
     * @property-read string|null $lastError
     * @property-read Headers $headers
     * @property-read non-empty-string|null $group
     *
     * @psalm-import-type Duration from \DelayQueue
     * @psalm-import-type Headers from \DelayQueue
     */
    interface JobInterface
    {
        /** @see Job::ack() */
        public function ack(bool $failed = false): void;

        /**
         * @see Job::release()
         * @param Duration|\DateTimeInterface $delay
         * @param int<0, 4294967295>|null $priority
         */
        public function release(
            int|float|string|\DateInterval|\DateTimeInterface $delay = 0,
            ?int $priority = null,
            bool $countAttempt = true,
            \Throwable|string|null $error = null,
        ): void;

        /** @see Job::fail() */
        public function fail(\Throwable|string|null $reason = null): void;

        /** @see Job::bury() */
        public function bury(\Throwable|string|null $reason = null, bool $failed = false): void;

        /** @param Duration|null $ttr as of Job::touch() */
        public function touch(int|float|string|\DateInterval|null $ttr = null): float;

        /** @param Duration|null $atMost as of Job::keepAlive() */
        public function keepAlive(int|float|string|\DateInterval|null $atMost = null): void;

        /**
         * @see Job::update()
         * @param array<array-key, string|null>|null $headers
         * @param array{alg: string, key: string, tag: string}|null $seal
         */
        public function update(mixed $payload = null, ?array $headers = null, ?array $seal = null): void;

        /** @see Job::timeLeft() */
        public function timeLeft(): float;

        /** @see Job::isSettled() */
        public function isSettled(): bool;

        /** @see Job::isLost() */
        public function isLost(): bool;

        /** @param Duration $margin as of Job::deadlineSoon() */
        public function deadlineSoon(int|float|string|\DateInterval $margin = 1): bool;
    }

    /**
     * A job under a lease. Only reserve() and its kin make one, and Testing for tests; it is neither cloneable nor serializable, and a forked
     * child may not use its parent's.
     *
     * @psalm-import-type Duration from \DelayQueue
     * @psalm-import-type Headers from \DelayQueue
     */
    final class Job implements JobInterface
    {
        /** @var non-empty-string */
        public readonly string $id;
        /** @var non-empty-string */
        public readonly string $queue;
        /** Decoded; with format 'raw' the bytes. */
        public readonly mixed $payload;
        /** The bytes that were pushed. */
        public readonly string $body;
        /** @var positive-int reservations so far, this one included */
        public readonly int $attempts;
        /** @var int<0, max> 0: no limit */
        public readonly int $maxAttempts;
        /** @var int<0, 4294967295> */
        public readonly int $priority;
        /** Seconds. */
        public readonly float $ttr;
        /** Unix seconds, by the clock of the producer's host. */
        public readonly float $createdAt;
        /** Unix seconds; of a job that was taken by reserveJob() while it was buried, since when. */
        public readonly float $dueAt;
        /** Unix seconds. */
        public readonly float $reservedAt;
        /** @var positive-int fencing number: grows with every reservation in the queue */
        public readonly int $token;
        /** @var int<0, max> as of JobInfo */
        public readonly int $timeouts;
        /** Of the attempt before. */
        public readonly ?string $lastError;
        /** @var Headers */
        public readonly array $headers;
        /** @var non-empty-string|null see NewJob::$group */
        public readonly ?string $group;

        /**
         * Done: removes the job.
         *
         * If the answer is lost, the call is repeated. A job that is not ours any more then may have been settled by the first try: no
         * LeaseLostException is thrown, also if somebody has cancelled it meanwhile. So it is with release(), fail(), bury() and ackMany().
         *
         * @param bool $failed true: the job ends here and its run counts as failed, not as acked. For frameworks that keep failed jobs elsewhere
         * @throws LeaseLostException when the job is no longer ours; nothing is changed
         * @throws ConnectionException|ServerException
         */
        public function ack(bool $failed = false): void {}

        /**
         * Gives the job back. A released job is buried only if its next attempt would come too late (NewJob::$retryUntil).
         *
         * @param Duration|\DateTimeInterface $delay
         * @param int<0, 4294967295>|null $priority null keeps it
         * @param bool $countAttempt false: as if the job had not been reserved ("not now": a rate limit, a maintenance window)
         * @param \Throwable|string|null $error not null: the run counts as failed, not as released, also where the attempt does not count; kept as
         *     lastError, as in fail(), unless it is empty. For callers that choose the time of the next attempt by themselves
         * @throws LeaseLostException|ConnectionException|ServerException
         */
        public function release(
            int|float|string|\DateInterval|\DateTimeInterface $delay = 0,
            ?int $priority = null,
            bool $countAttempt = true,
            \Throwable|string|null $error = null,
        ): void {}

        /**
         * Failed: back after the backoff's delay for this attempt, or buried when no attempt is left or the next one would come too late.
         *
         * @param \Throwable|string|null $reason kept as lastError, at most 2000 bytes. Of a Throwable 'Class: message', and lines with file and
         *     line, the exceptions before it, and the top of its trace without arguments; passwords in URLs are ***. A string is kept as it is
         * @throws LeaseLostException|ConnectionException|ServerException
         */
        public function fail(\Throwable|string|null $reason = null): void {}

        /**
         * Set aside until kicked.
         *
         * @param \Throwable|string|null $reason as in fail()
         * @param bool $failed true: the run counts as failed, not as buried
         * @throws LeaseLostException|ConnectionException|ServerException
         */
        public function bury(\Throwable|string|null $reason = null, bool $failed = false): void {}

        /**
         * The lease starts anew. The heartbeat of consume(), and keepAlive(), never shorten it.
         *
         * @param Duration|null $ttr 0.1 s .. 30 days; null: the job's own
         * @return float its new end in Unix seconds
         * @throws LeaseLostException|ConnectionException|ServerException
         */
        public function touch(int|float|string|\DateInterval|null $ttr = null): float {}

        /**
         * From now on a native thread renews the lease whenever a third of the TTR has passed, also while PHP is busy: until the job is settled
         * or lost, the object is gone, the request ends, or $atMost is over, which is counted from now. In consume() with its heartbeat the
         * lease is renewed anyway: there $atMost is a limit for the rest of the handler's run. Called again, it sets a new limit, or none.
         * The thread asks one Redis after another: where jobs of several are kept, one that keeps silent may delay the others' renewals by
         * connectTimeout or readTimeout, so a third of their TTR should be longer.
         *
         * @param Duration|null $atMost greater than 0; null: no limit
         * @throws LeaseLostException when the job is no longer ours, as far as this process knows: nothing is sent
         */
        public function keepAlive(int|float|string|\DateInterval|null $atMost = null): void {}

        /**
         * Changes the payload and headers of the job in hand, for its next attempt. $payload, $body and $headers of this object stay as they were read.
         *
         * @param mixed $payload null keeps it
         * @param array<array-key, string|null>|null $headers those that change, by their names: null removes one, all others stay
         * @param array{alg: string, key: string, tag: string}|null $seal for moving sealed jobs without their keys: $seal of a JobInfo, whose
         *     $body and $headers are then stored as they are. Only in the queue, and under the id, of that job can it be opened
         * @throws LeaseLostException|PayloadException
         * @throws SealException when what is to stay cannot be opened any more
         * @throws ConnectionException|ServerException
         */
        public function update(mixed $payload = null, ?array $headers = null, ?array $seal = null): void {}

        /** Seconds until the lease ends; 0.0 once it has, or the job is not ours any more. */
        public function timeLeft(): float {}

        /**
         * True when the lease ends within the margin, or has ended: touch() it now, or stop. False once the job is settled or lost. Where the
         * lease is kept alive it stays false.
         *
         * @param Duration $margin
         */
        public function deadlineSoon(int|float|string|\DateInterval $margin = 1): bool {}

        public function isSettled(): bool {}

        /** True once Redis has said that the job was cancelled or taken over. */
        public function isLost(): bool {}
    }

    /**
     * A look at a job without holding it.
     *
     * @psalm-import-type Headers from \DelayQueue
     */
    final class JobInfo
    {
        /** @var non-empty-string */
        public readonly string $id;
        /** @var non-empty-string */
        public readonly string $queue;
        public readonly State $state;
        /** Decoded; null when the body is not JSON, or with a $sealError. */
        public readonly mixed $payload;
        /** The bytes that were pushed; with a $sealError the stored ones. */
        public readonly string $body;
        /** @var int<0, max> reservations so far */
        public readonly int $attempts;
        /** @var int<0, max> 0: no limit */
        public readonly int $maxAttempts;
        /** @var int<0, 4294967295> */
        public readonly int $priority;
        /** Seconds. */
        public readonly float $ttr;
        /** Limit of one run of the handler, in seconds; 0.0: none. */
        public readonly float $timeout;
        public readonly Backoff $backoff;
        /** Unix seconds, by the clock of the producer's host. */
        public readonly float $createdAt;
        /** Unix seconds; of a buried job since when it is buried. */
        public readonly float $dueAt;
        /** Unix seconds; null unless it is reserved. */
        public readonly ?float $leaseUntil;
        /** @var int<0, max> leases that expired, of which one may have counted no attempt: see reserveMany() */
        public readonly int $timeouts;
        /** @var int<0, max> */
        public readonly int $releases;
        /** @var int<0, max> */
        public readonly int $buries;
        /** @var int<0, max> */
        public readonly int $kicks;
        /** Unix seconds; null of a job that never came back. A job that is kicked or rescheduled falls due anew. */
        public readonly ?float $firstDueAt;
        /** Unix seconds: by then it must have been started. Null where nothing says so, and of a job that was kicked, which has all the time. */
        public readonly ?float $expiresAt;
        /** Unix seconds: no attempt is made after that. Null as above. */
        public readonly ?float $retryUntil;
        public readonly ?string $lastError;
        /** @var Headers with a $sealError those that stand in Redis, which anybody may have put there */
        public readonly array $headers;
        /**
         * See NewJob::$group. A job that came back to an ordered group holds it up until its $dueAt.
         *
         * @var non-empty-string|null
         */
        public readonly ?string $group;
        /** @var array{alg: string, key: string, tag: string}|null of a sealed job: the algorithm, the id of the key, the tag in base64 */
        public readonly ?array $seal;
        /** Why this object cannot open the job, or null. A worker with the same keys would bury it with this reason. */
        public readonly ?string $sealError;
        /**
         * The moments and the group of the job ($expires, $retryUntil, $maxWait, $group of NewJob) as bytes, and all that a newer version of delayqueue has stored with
         * it; or null. A program that moves jobs gives them to pushMany() as `extras`, so that they are not lost.
         */
        public readonly ?string $extras;
        /** For what the job waits that is delayed or ready; null of others, and unless peek() gave this object. */
        public readonly ?WaitReason $waitsFor;
        /** Unix seconds: when that may end, as far as it can be known. */
        public readonly ?float $earliestAt;
        /** @var int<0, max>|null of a job that is due: how many come before it, of a group in this group; other groups count once */
        public readonly ?int $ahead;
        /** @var non-empty-string|null with WaitReason::GroupOrder: the id of the job that holds up the group */
        public readonly ?string $heldUpBy;

        /**
         * Returns the place of the job in the order of its state, for $after of list(), also in another process and
         * when the job has gone: `delayed.1024.1767225600000000.0.order-4711`. It has all bytes that an id may have.
         */
        public function place(): string {}
    }

    /**
     * A job to be pushed, and all that can be said of one. Everything that makes a job takes a NewJob, or an array with its properties as keys.
     *
     * It is checked when it is made; the payload is encoded when it is pushed. Objects are compared, printed and serialized by their properties.
     *
     * @psalm-import-type Duration from \DelayQueue
     * @psalm-import-type Headers from \DelayQueue
     *
     * @psalm-immutable
     */
    final class NewJob
    {
        /**
         * @param mixed $payload what json_encode() accepts, except a Closure or Generator; with format 'raw' a string
         * @param Duration|\DateTimeInterface $delay seconds, or an absolute moment on Redis' clock; a past moment is due at once. A negative number is a
         *     \ValueError, and so is one of 1e9 .. 3e9 (31 to 95 years), which is a Unix time that was taken for a delay
         * @param non-empty-string|null $id 1..200 bytes, no control characters; null: a time-ordered UUIDv7
         * @param int<0, 4294967295>|null $priority smaller is sooner; null: the queue's
         * @param Duration|null $ttr length of the lease, 0.1 s .. 30 days; null: the queue's
         * @param int<0, 4294967295>|null $maxAttempts 0: no limit; null: the queue's
         * @param Backoff|null $backoff null: the queue's
         * @param Duration|null $timeout limit of one run of the handler, 0: none
         * @param Headers $headers
         * @param Duration|null $unique for so long from now the id stays taken, whatever becomes of the job: cancelled, done, buried. Only pushes
         *     with $unique ask that. With OnDuplicate::Replace such a push replaces a job that waits, and keeps what is otherwise. A push
         *     whose answer was lost, and which finds its id taken when it is repeated, counts as stored; the one that took it may have
         *     been another process
         * @param Duration|null $maxWait with OnDuplicate::Replace: a job that is replaced again and again falls due at the latest so long after
         *     the first of these pushes. A debounce that runs
         * @param Duration|\DateTimeInterface|null $expires a job that was not started by then never runs: a moment, or a time after it first fell due.
         *     The next call that meets it ends it; until then it counts as ready. A kick lifts this and $retryUntil
         * @param OnExpiry $onExpiry what becomes of it instead
         * @param Duration|\DateTimeInterface|null $retryUntil no attempt is made after that moment, or so long after the job first fell due: a job
         *     whose next attempt would come later is buried. Not together with $expires
         * @param non-empty-string|null $group the tenant, customer or key of the job, named like an id. Each group stands in line as one: each
         *     turn gives it one job (its `weight`), however many it has. A job without a group is its own tenant. Within a group jobs come by
         *     priority, due time, id; a priority puts no group before another. See limitGroups(). A job keeps its group for life, unless a push
         *     with OnDuplicate::Replace gives it another. Names of groups are readable in Redis, also in a queue with keys, and no seal covers
         *     them. With partitions the group chooses the partition: an id that is pushed with different groups is unique within each
         *     partition only
         * @throws InvalidArgument|\TypeError
         */
        public function __construct(
            public readonly mixed $payload,
            public readonly int|float|string|\DateInterval|\DateTimeInterface $delay = 0,
            public readonly ?string $id = null,
            public readonly ?int $priority = null,
            public readonly int|float|string|\DateInterval|null $ttr = null,
            public readonly ?int $maxAttempts = null,
            public readonly ?Backoff $backoff = null,
            public readonly int|float|string|\DateInterval|null $timeout = null,
            public readonly OnDuplicate $onDuplicate = OnDuplicate::Fail,
            public readonly array $headers = [],
            public readonly int|float|string|\DateInterval|null $unique = null,
            public readonly int|float|string|\DateInterval|null $maxWait = null,
            public readonly int|float|string|\DateInterval|\DateTimeInterface|null $expires = null,
            public readonly OnExpiry $onExpiry = OnExpiry::Bury,
            public readonly int|float|string|\DateInterval|\DateTimeInterface|null $retryUntil = null,
            public readonly ?string $group = null,
        ) {}

        /**
         * A copy with other values: `$job->with(delay: '1h', group: null)`.
         *
         * @param mixed ...$changes by the names of the constructor's parameters
         * @throws InvalidArgument
         * @throws \Error for an unknown name
         * @throws \TypeError
         */
        public function with(mixed ...$changes): self {}
    }

    /** The answer of pushOnce(): how many jobs it added, and why not the others. */
    final class PushOnce
    {
        /** @var int<0, max> */
        public readonly int $added;
        /** @var int<0, max> jobs whose ids were taken: what is there was kept, and their receipts are given now */
        public readonly int $kept;
        /** @var int<0, max> jobs whose receipts the queue had; after a lost answer those, too, that this call has added */
        public readonly int $known;
    }

    /**
     * A job as push() would store it: see DelayQueue::prepare().
     *
     * @psalm-import-type Headers from \DelayQueue
     */
    final class PreparedJob
    {
        /** @var non-empty-string the given one, or a new UUIDv7 */
        public readonly string $id;
        /** The bytes of the payload, before any sealing. */
        public readonly string $body;
        /** @var Headers */
        public readonly array $headers;
        /** Seconds; null where a moment was given. */
        public readonly ?float $delay;
        /** Unix seconds; null where a delay was given. */
        public readonly ?float $dueAt;
        /** @var int<0, 4294967295> */
        public readonly int $priority;
        /** Seconds. */
        public readonly float $ttr;
        /** @var int<0, 4294967295> 0: no limit */
        public readonly int $maxAttempts;
        public readonly Backoff $backoff;
        /** Seconds; 0.0: none. */
        public readonly float $timeout;
        public readonly OnDuplicate $onDuplicate;
        /** Seconds, or null. */
        public readonly ?float $unique;
        /** @var non-empty-string|null */
        public readonly ?string $group;
        /** $maxWait, $expires, $onExpiry, $retryUntil and $group of the job as bytes, for `extras` of pushMany() and pushOnce(), or null. */
        public readonly ?string $extras;
    }

    /** What a DelayQueue was told when it was made, with the defaults for the rest and without its secrets: see DelayQueue::settings(). */
    final class QueueSettings
    {
        /** Where Redis is, with *** for a password: for logs, not for another object. */
        public readonly string $dsn;
        /** @var non-empty-string the beginning of all keys */
        public readonly string $prefix;
        /** @var 'json'|'raw' */
        public readonly string $format;
        /** @var positive-int bytes */
        public readonly int $maxPayload;
        /** It has keys: a push seals the job. */
        public readonly bool $isSealed;
        /** It has keys, and jobs stay readable in Redis. */
        public readonly bool $isSigned;
        /** @var int<1, 256> */
        public readonly int $partitions;
        /** @var positive-int|null */
        public readonly ?int $capacity;
        /** @var 'memory'|'replica'|'disk' */
        public readonly string $durability;
        /** @var int<0, 255> that a write waits for; 0 unless durability is 'replica' */
        public readonly int $replicas;
        /** @var int<0, 4294967295> of jobs that do not say, as all below */
        public readonly int $priority;
        /** Seconds. */
        public readonly float $ttr;
        /** @var int<0, 4294967295> 0: no limit */
        public readonly int $maxAttempts;
        public readonly Backoff $backoff;
    }

    /** A loop of the program's own in the list of workers, from DelayQueue::enlist() until close(), or until nobody has the object any more. */
    final class Enlisted
    {
        /** What an operator has told the worker: Stop, Restart or Pause; null: to go on. It hears of it within 12 seconds. */
        public function order(): ?WorkerOrder {}

        /** Takes the worker off the list. */
        public function close(): void {}
    }

    /** Numbers of one queue. Counters run since the queue was made. */
    final class Stats
    {
        /** @var int<0, max> */
        public readonly int $delayed;
        /** @var int<0, max> */
        public readonly int $ready;
        /** @var int<0, max> */
        public readonly int $reserved;
        /** @var int<0, max> */
        public readonly int $buried;
        /**
         * Ready jobs of groups that may not be served now: full, closed, without a token, or held up by a job that came back. They count in
         * $ready, too. Exact while at most 100 groups stand in line with something to serve, else estimated from 100 of them.
         *
         * @var int<0, max>
         */
        public readonly int $blocked;
        /** @var int<0, max> */
        public readonly int $pushed;
        /** @var int<0, max> */
        public readonly int $acked;
        /** @var int<0, max> */
        public readonly int $failed;
        /** @var int<0, max> */
        public readonly int $timedOut;
        /** @var int<0, max> */
        public readonly int $cancelled;
        /**
         * Jobs that nobody started by their time (NewJob::$expires), or whose next attempt came too late ($retryUntil): buried, or removed.
         *
         * @var int<0, max>
         */
        public readonly int $expired;
        /** Seconds; null when nothing is ready but $blocked jobs, which do not count here. */
        public readonly ?float $oldestReadyAge;
        /** Unix seconds; null when nothing is delayed. */
        public readonly ?float $nextDueAt;
        public readonly bool $paused;
        /**
         * How many workers serve the queue, by the states of DelayQueue::workers(); null where its Redis user may not look at their list, or the
         * list cannot be reached. Loops of your own around reserve() are not in it.
         *
         * @var array{idle: int<0, max>, working: int<0, max>, paused: int<0, max>, stopping: int<0, max>}|null
         */
        public readonly ?array $workers;

        /**
         * Time from due to reserved, in milliseconds, over the last hour (and up to five minutes more), or since the queue was made. A job that
         * comes back has a new due time and counts again: this tells whether there are enough workers.
         *
         * @return array{p50: float, p95: float, p99: float, count: int<0, max>}
         */
        public function lateness(bool $sinceStart = false): array {}

        /**
         * Time from when a job fell due first to reserved, in the same form: with all attempts before, and the delays between them. This tells
         * how long jobs wait for their success. A job that is kicked or rescheduled falls due anew.
         *
         * @return array{p50: float, p95: float, p99: float, count: int<0, max>}
         */
        public function waitTime(bool $sinceStart = false): array {}

        /**
         * How long jobs ran, by the outcome of the run, in the same form: from the call of the handler, or from reserve(), to its end. A lease that
         * timed out counts with its TTR.
         *
         * @return array{
         *     acked: array{p50: float, p95: float, p99: float, count: int<0, max>},
         *     failed: array{p50: float, p95: float, p99: float, count: int<0, max>},
         *     released: array{p50: float, p95: float, p99: float, count: int<0, max>},
         *     buried: array{p50: float, p95: float, p99: float, count: int<0, max>},
         *     timed_out: array{p50: float, p95: float, p99: float, count: int<0, max>},
         * }
         */
        public function runTimes(bool $sinceStart = false): array {}

        /**
         * The counters of the last hour, as consumers have copied them every five minutes, and the last copy before: oldest first, at most 14. All
         * count since the queue was made, so the difference of two entries is what happened between them. pushed, acked, failed, timedOut and
         * cancelled are those of the properties; released and buried are runs that ended so. Empty while no worker has served the queue for
         * five minutes, and in memory.
         *
         * The copies of partitions have moments of their own. There an entry is the sum of the last copy of each until then; the first one is at the
         * moment from which on each has one. A partition of which nothing has been copied yet counts nothing.
         *
         * @return list<array{
         *     at: float,
         *     pushed: int<0, max>,
         *     acked: int<0, max>,
         *     failed: int<0, max>,
         *     timedOut: int<0, max>,
         *     cancelled: int<0, max>,
         *     released: int<0, max>,
         *     buried: int<0, max>,
         * }> at: Unix seconds, by Redis' clock
         */
        public function history(): array {}

        /** All of this in Prometheus' text format, histograms included; names begin with delayqueue_, label queue. */
        public function toPrometheus(): string {}

        /** The metrics of several queues in one text, in which each metric is declared once, as the format demands. */
        public static function prometheusPage(Stats ...$queues): string {}
    }

    /**
     * How many jobs run at once, and how fast they start: of a group, of each group without limits of its own (DelayQueue::limitGroups()), or of a
     * queue (DelayQueue::limits()). It is compared, printed and serialized by its properties.
     */
    final class GroupLimits
    {
        /** @var int<1, 4294967295>|null at most so many jobs are reserved at once; null: no limit */
        public readonly ?int $concurrency;
        /** @var non-empty-string|null so many starts in so long, its duration in the largest unit that it is whole in: '100/1m' */
        public readonly ?string $rate;
        /** @var int<1, 4294967295>|null so many of them may start at once; null: just the number of the rate */
        public readonly ?int $burst;
        /** @var int<1, 4294967295> jobs a turn */
        public readonly int $weight;
        /** Jobs one at a time, in order, also over retries. */
        public readonly bool $ordered;

        /**
         * Both limits hold together: a job starts once it has room and a token.
         *
         * @param int<1, 4294967295>|null $concurrency at most so many jobs are reserved at once. A job counts until it is settled, or its lease
         *     ends: also one that was fetched ahead ($prefetch of consume()) and waits for its handler
         * @param non-empty-string|null $rate '<number>/<duration>', both above 0, such as '100/1m' or '5/30s'. A token is taken when a job is
         *     reserved. It is given back only for a job that no handler has started, not by release() and not by a lease that expires
         * @param int<1, 4294967295>|null $burst so many may start at once after a quiet time; null: the number of the rate, so that up to 199 jobs may start
         *     within one minute at '100/1m'. 1 spaces them evenly. Only with a rate
         * @param int<1, 4294967295> $weight jobs that each turn in the line gives
         * @param bool $ordered the jobs run one at a time, in their order, and one that comes back (fail(), release(), an expired lease) is the
         *     first of its group until it has ended: until it is due again, nothing of the group is served. $concurrency is 1. Buried jobs hold
         *     up nothing; one that is kicked comes last. With $concurrency 1 alone a job that waits for its retry lets others pass
         * @throws \ValueError
         */
        public function __construct(
            ?int $concurrency = null,
            ?string $rate = null,
            ?int $burst = null,
            int $weight = 1,
            bool $ordered = false,
        ) {}
    }

    /** The numbers of a group: see DelayQueue::groupStats(). */
    final class GroupStats
    {
        /** @var int<0, max> delayed and ready jobs */
        public readonly int $waiting;
        /** @var int<0, max> */
        public readonly int $reserved;
        /** Unix seconds: from then on it may be its turn, not later. Null: it is not in line, because nothing waits, it is full, or paused until resume(). */
        public readonly ?float $nextTurnAt;
        /** Unix seconds, by pause() or rateLimit(). Null: it is open, or closed until resume(). */
        public readonly ?float $closedUntil;
        /** Closed now. */
        public readonly bool $paused;
    }

    /**
     * The delay before the next attempt. Immutable, equal on every worker, stored with the job.
     *
     * @psalm-import-type Duration from \DelayQueue
     *
     * @psalm-immutable
     */
    final class Backoff
    {
        /**
         * Always the same delay.
         *
         * @param Duration $delay
         */
        public static function fixed(int|float|string|\DateInterval $delay): self {}

        /**
         * $step * n + $base after the n-th attempt: linear('2m', '1m') is 3, 5, 7 … minutes.
         *
         * @param Duration $step
         * @param Duration $base
         */
        public static function linear(int|float|string|\DateInterval $step, int|float|string|\DateInterval $base = 0): self {}

        /**
         * One delay per attempt; the last one repeats.
         *
         * @param non-empty-string|non-empty-array<Duration> $delays '15s 3m 10m', or the delays one by one; at most 255
         */
        public static function stages(string|array $delays): self {}

        /**
         * $base * $factor ** (n - 1) after the n-th attempt, at most $max, plus or minus up to $jitter of it.
         *
         * @param Duration $base
         * @param float $factor at least 1
         * @param Duration $max
         * @param float $jitter 0 .. 1
         */
        public static function exponential(
            int|float|string|\DateInterval $base,
            float $factor = 2,
            int|float|string|\DateInterval $max = '1h',
            float $jitter = 0.1,
        ): self {}

        /**
         * Reads what a Backoff prints: 'fixed 5s', 'linear 2m 1m', 'stages 15s 3m 10m', 'exponential 5s 2 1h 0.1'; delays alone
         * are stages, and parts left out at the end are as in the methods of that name.
         *
         * @param non-empty-string $text
         * @throws \ValueError
         */
        public static function parse(string $text): self {}

        /**
         * Seconds before attempt $attempt + 1, jitter left out.
         *
         * @param positive-int $attempt
         */
        public function delayAfter(int $attempt): float {}

        /**
         * The text that parse() reads.
         *
         * @return non-empty-string
         */
        public function __toString(): string {}
    }

    /** Every exception of this extension, except \TypeError, InvalidArgument and \Error for wrong programs. */
    interface Exception extends \Throwable {}

    /** An argument that cannot be taken. Its message says all; the properties say it in parts, for programs that tell it in their own words. */
    class InvalidArgument extends \ValueError
    {
        /** What is wrong, the end of the message: 'must be greater than or equal to 0'. */
        public string $reason = '';
        /** The name of the parameter; empty where it is no single one, as for a setting of php.ini. */
        public string $parameter = '';
        /** @var int<0, max>|null the position in a list of jobs */
        public ?int $item = null;
        /** The key in an array: of a job, or of the options. */
        public ?string $key = null;
    }

    /** Redis could not be reached, or was lost. */
    class ConnectionException extends \RuntimeException implements Exception
    {
        /** The write may have been applied, because its answer was lost, and so were the retries; or a part of it was: the message says how much. */
        public bool $ambiguous = false;
        /** @var list<non-empty-string> ids that pushMany() had stored before; of the others one chunk may be stored, too, if $ambiguous */
        public array $stored = [];
    }

    /** Redis did not accept the credentials (WRONGPASS, NOAUTH). */
    class AuthenticationException extends ConnectionException {}

    /** Redis refused: READONLY, NOPERM, MISCONF, BUSY, WRONGTYPE … */
    class ServerException extends \RuntimeException implements Exception
    {
        /** The first word of Redis' error. */
        public string $redisCode = '';
        /** @var list<non-empty-string> ids that pushMany() had stored before */
        public array $stored = [];
    }

    /** Redis has no memory left (OOM); nothing was stored, but for $stored of pushMany(). */
    class QueueFullException extends ServerException {}

    /** The lease ran out, the job was cancelled, or it is settled already; nothing was changed. */
    class LeaseLostException extends \RuntimeException implements Exception {}

    /** The job of the handler that runs was cancelled; see consume(throwOnCancel: true). */
    class CancelledException extends LeaseLostException {}

    /** A job of this id is in the queue already. */
    class DuplicateJobException extends \RuntimeException implements Exception
    {
        /** @var list<non-empty-string> ids that pushMany() had stored before */
        public array $stored = [];
    }

    /** A payload that cannot be encoded, or is too large; getCode() is json_last_error(). */
    class PayloadException extends \InvalidArgumentException implements Exception {}

    /** A sealed job cannot be opened, or a job cannot be sealed; nothing was changed. */
    class SealException extends \RuntimeException implements Exception {}

    /** Thrown into a handler that ran for too long. */
    class TimeoutException extends \RuntimeException implements Exception {}

    /**
     * Thrown into a handler that still runs when its process has to end, see consume(shutdownTimeout: '25s'), or when
     * the handler that runs its loop has to end. Let it pass: the job goes back.
     */
    final class ShutdownException extends \RuntimeException implements Exception {}

    /**
     * Thrown by a handler: give the job back. The message becomes its lastError.
     *
     * @psalm-import-type Duration from \DelayQueue
     */
    class Release extends \RuntimeException implements Exception
    {
        /** Seconds; null where a moment was given. */
        public readonly ?float $delay;
        /** Unix seconds; null where a delay was given. */
        public readonly ?float $dueAt;
        public readonly bool $countAttempt;

        /**
         * @param Duration|\DateTimeInterface $delay
         * @param bool $countAttempt false: as if the job had not been reserved, and neither does the run count
         * @throws InvalidArgument
         */
        public function __construct(
            int|float|string|\DateInterval|\DateTimeInterface $delay = 0,
            string $message = '',
            bool $countAttempt = true,
        ) {}
    }

    /**
     * Thrown by a handler: it cannot go on for so long, because of a limit elsewhere ("429 Too Many Requests"). The group named, else that of the
     * job, else the queue is closed for that time, as by DelayQueue::rateLimit(). The job goes back to its old place, as if it had not been
     * reserved: the attempt does not count, and neither does the run. The message becomes its lastError. Listeners hear of Event::Released.
     *
     * Jobs of the group that the worker has fetched ahead ($prefetch of consume()) still run. In a test that drain()s a queue, a handler that names another
     * group than that of its job gets the job again at once, and without end.
     *
     * Where Redis does not let the group be closed, the job goes back all the same, and consume() throws what Redis said.
     *
     * @psalm-import-type Duration from \DelayQueue
     */
    class RateLimited extends Release
    {
        /** @var non-empty-string|null null: that of the job, or else the queue */
        public readonly ?string $group;

        /**
         * @param Duration $for as of DelayQueue::rateLimit(); $delay has it
         * @param non-empty-string|null $group of the queue of the job
         */
        public function __construct(int|float|string|\DateInterval $for, ?string $group = null, string $message = '') {}
    }

    /** Thrown by a handler: set the job aside; the message becomes its lastError. */
    class Bury extends \RuntimeException implements Exception {}

    /**
     * One call of a method of a job that Testing::job() made.
     *
     * @psalm-import-type Headers from \DelayQueue
     */
    final class JobCall
    {
        /** @var 'ack'|'release'|'fail'|'bury'|'touch'|'keepAlive'|'update' */
        public readonly string $name;
        /** Of release(): seconds from the call on, 0.0 for a past moment. */
        public readonly ?float $delay;
        /** Of release(): Unix seconds. */
        public readonly ?float $dueAt;
        /** @var int<0, 4294967295>|null of release(), null keeps it */
        public readonly ?int $priority;
        /** False after release(countAttempt: false). */
        public readonly bool $countAttempt;
        /** True after ack(failed: true), bury(failed: true) and release() with an $error; fail() says it by its name. */
        public readonly bool $failed;
        /** Of fail(), bury() and release(), as it is kept as lastError. */
        public readonly ?string $reason;
        /** Seconds; of touch() the length of the lease, of keepAlive() $atMost. */
        public readonly ?float $ttr;
        /** Of touch(), Unix seconds. */
        public readonly ?float $leaseUntil;
        /** Of update(), as the next attempt sees it; null where it stays. */
        public readonly mixed $payload;
        /** Of update(): the bytes; null where they stay. */
        public readonly ?string $body;
        /** @var array<array-key, string|null>|null of update(): those that change, null for one that is removed */
        public readonly ?array $headers;
    }

    /**
     * For tests of one's own code: moves the time, and makes the final objects of this extension without Redis. An \Error unless
     * ini delayqueue.testing=1.
     *
     * @psalm-import-type Duration from \DelayQueue
     * @psalm-import-type Headers from \DelayQueue
     * @psalm-import-type JobOnce from \DelayQueue
     * @psalm-import-type JobArray from \DelayQueue
     */
    final class Testing
    {
        /**
         * Moves this process' view of Redis' time forward (in a PHP with threads: this thread's), for every DelayQueue object in it. A job
         * that was pushed before with just this delay is due afterwards.
         *
         * @param Duration $by
         */
        public static function travel(int|float|string|\DateInterval $by): void {}

        /** Moves it to a moment; from there the time goes on. */
        public static function travelTo(\DateTimeInterface $moment): void {}

        /** Back to the present. */
        public static function travelBack(): void {}

        /**
         * Deletes all that memory://$name holds, for setUp() of tests. Queue objects that are there go on with the empty store.
         *
         * @throws \Error in a child of the process that has the store
         */
        public static function forgetMemory(string $name = ''): void {}

        /** How many seconds this process' view is ahead of the present, negative after a travel to the past; 0.0 outside of tests, without an \Error. */
        public static function offset(): float {}

        /**
         * A job without Redis, to call a handler with. Nothing it does is sent: calls() lists what was done to it, outcome() how it was settled.
         * It has the rules of a real one: the same arguments, and a second settling throws LeaseLostException.
         *
         * @param mixed $payload as for push(); the job has it as a worker would see it, decoded from JSON
         * @param non-empty-string $id
         * @param positive-int $attempts
         * @param Headers $headers
         * @param non-empty-string $queue
         * @param int<0, 4294967295> $maxAttempts 0: no limit
         * @param int<0, 4294967295> $priority
         * @param Duration $ttr
         * @param (callable(JobCall): void)|null $listener hears of each call; one that throws refuses it, a LeaseLostException makes isLost() true
         * @param non-empty-string|null $group
         */
        public static function job(
            mixed $payload,
            string $id = 'test',
            int $attempts = 1,
            array $headers = [],
            string $queue = 'default',
            int $maxAttempts = 10,
            int $priority = 1024,
            int|float|string|\DateInterval $ttr = 60,
            ?string $lastError = null,
            ?callable $listener = null,
            ?string $group = null,
        ): Job {}

        /**
         * The call that settled a job of job(): ack, release, fail or bury; null while it is not settled.
         *
         * @throws \ValueError for a job of Redis
         */
        public static function outcome(Job $job): ?JobCall {}

        /**
         * All calls of a job of job(), in their order.
         *
         * @return list<JobCall>
         * @throws \ValueError for a job of Redis
         */
        public static function calls(Job $job): array {}

        /**
         * A look at a job that is nowhere.
         *
         * @param array<string, mixed> $properties of JobInfo, by their names
         * @param JobInfo|null $like has the other properties; null: as of a new job with id 'test' in queue 'default'
         * @throws \TypeError|\ValueError
         */
        public static function jobInfo(array $properties = [], ?JobInfo $like = null): JobInfo {}

        /**
         * An answer of pushOnce().
         *
         * @param int<0, max> $added
         * @param int<0, max> $kept
         * @param int<0, max> $known
         */
        public static function pushOnce(int $added = 0, int $kept = 0, int $known = 0): PushOnce {}

        /**
         * The numbers of a group that is nowhere.
         *
         * @param int<0, max> $waiting
         * @param int<0, max> $reserved
         */
        public static function groupStats(
            int $waiting = 0,
            int $reserved = 0,
            ?float $nextTurnAt = null,
            ?float $closedUntil = null,
            bool $paused = false,
        ): GroupStats {}

        /**
         * Numbers of no queue.
         *
         * @param array<string, mixed> $properties of Stats, by their names; 0, null or false where left out
         * @param string $queue for toPrometheus()
         * @throws \TypeError|\ValueError
         */
        public static function stats(array $properties = [], string $queue = 'default'): Stats {}
    }
}

namespace {

    /**
     * A delay queue on Redis. The object opens its connection with the first command.
     *
     * @psalm-type Duration = int|float|numeric-string|non-empty-string|\DateInterval
     * @psalm-type Headers = array<array-key, string>
     * @psalm-type Options = array{
     *     prefix?: non-empty-string,
     *     ttr?: Duration,
     *     maxAttempts?: int<0, 4294967295>,
     *     backoff?: \DelayQueue\Backoff,
     *     priority?: int<0, 4294967295>,
     *     format?: 'json'|'raw',
     *     maxPayload?: int<1, 536870912>,
     *     connectTimeout?: int|float,
     *     readTimeout?: int|float,
     *     persistent?: bool,
     *     capacity?: positive-int|null,
     *     durability?: 'memory'|'replica'|'disk',
     *     replicas?: int<1, 255>,
     *     partitions?: int<1, 256>,
     *     keys?: non-empty-array<array-key, non-empty-string>,
     *     signed?: bool,
     * }
     * @psalm-type JobArray = array{
     *     payload: mixed,
     *     delay?: Duration|\DateTimeInterface,
     *     id?: non-empty-string|null,
     *     priority?: int<0, 4294967295>|null,
     *     ttr?: Duration|null,
     *     maxAttempts?: int<0, 4294967295>|null,
     *     backoff?: \DelayQueue\Backoff|null,
     *     timeout?: Duration|null,
     *     onDuplicate?: \DelayQueue\OnDuplicate,
     *     headers?: Headers,
     *     unique?: Duration|null,
     *     maxWait?: Duration|null,
     *     expires?: Duration|\DateTimeInterface|null,
     *     onExpiry?: \DelayQueue\OnExpiry,
     *     retryUntil?: Duration|\DateTimeInterface|null,
     *     group?: non-empty-string|null,
     *     extras?: string|null,
     * }
     * @psalm-type JobOnce = array{
     *     receipt: non-empty-string,
     *     payload?: mixed,
     *     createdAt?: int|float|null,
     *     past?: array{attempts?: int<0, 4294967295>, timeouts?: int<0, 4294967295>, releases?: int<0, 4294967295>, buries?: int<0, 4294967295>, kicks?: int<0, 4294967295>, firstDueAt?: int|float|null, lastError?: string|null}|null,
     *     state?: \DelayQueue\State|null,
     *     seal?: array{alg: string, key: string, tag: string}|null,
     *     ...
     * }
     */
    final class DelayQueue implements \DelayQueue\QueueInterface
    {
        /** Smaller is sooner; 0 .. 4294967295. */
        public const DEFAULT_PRIORITY = 1024;

        /** The version of the extension. */
        public const VERSION = '0.1.0';

        /**
         * @param non-empty-string $queue 1..200 bytes of [A-Za-z0-9._:-]
         * @param non-empty-string|null $dsn redis://[user:pass@]host:port/db, redis+unix:///path?db=0,
         *     redis+sentinel://[user:pass@]host:26379,host,…/service/db[?sentinel_user=&sentinel_password=],
         *     redis+cluster://[user:pass@]host:6379,host,…; with TLS rediss://, rediss+sentinel:// and rediss+cluster://, each with
         *     ?ca=&cert=&key= of PEM files; valkey instead of redis means the same;
         *     memory://[name][?maxmemory=64mb] for tests (ini delayqueue.testing=1): a store in this process, of 256 MiB at most, with the
         *     rules of Redis. Its jobs end with the process; a wait that can bring nothing ends at once, and is at most a second long;
         *     null: ini delayqueue.dsn, else the environment's DELAYQUEUE_DSN (getenv(), else $_ENV, else $_SERVER), else
         *     redis://127.0.0.1:6379/0
         * @param Options $options prefix: if left out, ini delayqueue.prefix, else the environment's DELAYQUEUE_PREFIX, else 'dq'; ttr 60 (0.1 s .. 30 days), maxAttempts 10 (0: no
         *     limit), backoff exponential('5s', 2, '1h', 0.1), priority 1024, format 'json', maxPayload 1 MiB,
         *     connectTimeout 1 (seconds), readTimeout 2 (seconds), persistent true,
         *     durability 'memory': 'replica' or 'disk' make push(), pushMany(), ack(), ackMany(), cancel(), reschedule() and update() wait, for
         *     three quarters of the readTimeout, until a replica has the change ('replicas' 1: so many of them), or the append-only file on disk
         *     (Redis 7.2); short of it they throw
         *     a ConnectionException with $ambiguous true. consume() does not wait: a loop cannot undo what its handler has done.
         *     capacity null: how many jobs in all states the queue may hold for this producer (with partitions each its share); a push, or a chunk of
         *     pushMany(), that would pass it changes nothing and throws a QueueFullException with $redisCode 'DQCAPACITY'. A kept or replaced job
         *     counts nothing; pushOnce(), release() and kick() are not held up.
         *     partitions 1: the queue is spread over so many hash tags, for a cluster. Order, ids and fencing tokens hold within a
         *     partition, which the id chooses; list() shows one partition after the other. Workers and producers need the same number.
         *     Raise it in workers before producers; workers still find jobs pushed under the old number. A push does not: it adds a second job
         *     beside an older one of the same id.
         *     Lower it only when the queue is empty.
         *     keys seals payload and headers of every job, by key id
         *     (1..64 bytes of [A-Za-z0-9_.-]): 32 bytes each, or 'base64:' and these in base64; the first key seals, all of them open. With
         *     signed true the jobs stay readable in Redis, and are only authenticated. A job that cannot be opened (sealed without these
         *     keys, plain, or changed) is buried with the reason and not delivered, also by an object without keys
         * @throws \DelayQueue\InvalidArgument when a name, the DSN or an option is wrong; nothing is sent
         */
        public function __construct(string $queue = 'default', #[\SensitiveParameter] ?string $dsn = null, #[\SensitiveParameter] array $options = []) {}

        /**
         * Another queue of the same Redis and login, as a new object with the options of this one, but for those that are given: prefix, keys,
         * durability, partitions, defaults of jobs, all of them. Queues that this one watches and its listeners are not taken over.
         *
         * It shares connections as an object of the constructor does: with all that have the same DSN and timeouts, and with persistent false with
         * none, not even with this one. keys can be replaced and not be taken away; replicas that are not given are kept with durability 'replica'.
         *
         * @param non-empty-string $queue
         * @param Options $options
         * @throws \ValueError when the name or an option is wrong
         */
        public function sibling(string $queue, #[\SensitiveParameter] array $options = []): static {}

        /**
         * Adds a job in one atomic round trip. A push whose answer was lost is repeated: there is no second job while the first is in the
         * queue, and the repetition does not count as a duplicate.
         *
         * The parameters are those of \DelayQueue\NewJob, which describes them. A NewJob in place of the payload is pushed as it is, and then stands alone.
         *
         * @param mixed $payload what json_encode() accepts, except a Closure or Generator; with format 'raw' a string
         * @param Headers $headers
         * @return non-empty-string the id
         * @throws \DelayQueue\DuplicateJobException when $id is in the queue and $onDuplicate says so
         * @throws \DelayQueue\PayloadException when the payload cannot be encoded or is too large
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function push(
            mixed $payload,
            int|float|string|\DateInterval|\DateTimeInterface $delay = 0,
            ?string $id = null,
            ?int $priority = null,
            int|float|string|\DateInterval|null $ttr = null,
            ?int $maxAttempts = null,
            ?\DelayQueue\Backoff $backoff = null,
            int|float|string|\DateInterval|null $timeout = null,
            \DelayQueue\OnDuplicate $onDuplicate = \DelayQueue\OnDuplicate::Fail,
            array $headers = [],
            int|float|string|\DateInterval|null $unique = null,
            int|float|string|\DateInterval|null $maxWait = null,
            int|float|string|\DateInterval|\DateTimeInterface|null $expires = null,
            \DelayQueue\OnExpiry $onExpiry = \DelayQueue\OnExpiry::Bury,
            int|float|string|\DateInterval|\DateTimeInterface|null $retryUntil = null,
            ?string $group = null,
        ): string {}

        /**
         * As push(), but null where the job was not stored, because its id is in the queue or taken, whatever $onDuplicate says. With
         * OnDuplicate::Replace that is a job in the hands of a worker.
         *
         * @param JobArray|\DelayQueue\NewJob $job
         * @return non-empty-string|null the id
         * @throws \DelayQueue\PayloadException|\DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function tryPush(\DelayQueue\NewJob|array $job): ?string {}

        /**
         * Adds many jobs in few round trips; each chunk of up to 500 is atomic. An array is checked as a whole before
         * anything is sent; a Traversable is read, checked and sent chunk by chunk. Where Redis fails or refuses, $stored of the exception
         * names the jobs of the chunks before.
         *
         * @param iterable<JobArray|\DelayQueue\NewJob> $jobs
         * @return list<non-empty-string> the ids in order
         * @throws \TypeError|\ValueError naming the position and the key
         * @throws \DelayQueue\DuplicateJobException|\DelayQueue\PayloadException|\DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function pushMany(iterable $jobs): array {}

        /**
         * Adds jobs once, however often it is asked to: after a crash, an error or a lost answer the same call again adds what is missing. The queue
         * keeps the `receipt` of each job, 1..200 bytes without control characters, until forgetReceipts(); a job whose receipt it has changes
         * nothing. Receipts are as safe as jobs: a replica that takes over without the last writes has lost both.
         *
         * Each chunk of up to 500 jobs is atomic. A job whose id is in the queue, or taken, is kept as it is, and its receipt is given; with
         * OnDuplicate::Replace one that no worker holds is replaced. Fail is a \ValueError. A job may arrive with its past: `createdAt`
         * (Unix seconds), `past`, and State::Buried, which it is since its time ($delay). With `seal` of a JobInfo the payload is its body, as it is
         * stored. A job without `id` has a UUID made of its receipt. An item without `payload` gives its receipt alone, and takes the `id` for as
         * long as `unique` says.
         *
         * @param iterable<JobOnce> $jobs further keys as of pushMany()
         * @throws \TypeError|\ValueError naming the position and the key
         * @throws \DelayQueue\PayloadException
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException chunks before are stored: call again
         */
        public function pushOnce(iterable $jobs): \DelayQueue\PushOnce {}

        /**
         * Checks and encodes a job as push() does, and gives what that would store: for programs that store it elsewhere first. Asks no Redis.
         *
         * @param JobArray|\DelayQueue\NewJob $job
         * @throws \DelayQueue\PayloadException
         */
        public function prepare(\DelayQueue\NewJob|array $job): \DelayQueue\PreparedJob {}

        /**
         * The receipts of pushOnce() that the queue has, oldest first (of several partitions: of each).
         *
         * @param Duration $olderThan given at least so long ago, by Redis' clock
         * @param string $prefix with this beginning
         * @param positive-int $limit
         * @return list<non-empty-string>
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function receipts(int|float|string|\DateInterval $olderThan = 0, string $prefix = '', int $limit = 1000): array {}

        /**
         * The ids that are taken for some time (NewJob::$unique), and until when (Unix seconds), the soonest free first.
         *
         * @return list<array{id: non-empty-string, until: float}>
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function takenIds(): array {}

        /**
         * Removes receipts of pushOnce(), and frees ids that are taken for some time: nothing else does.
         *
         * @return int<0, max> how many there were
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function forgetReceipts(string ...$names): int {}

        /**
         * The classic ZSET + HASH producer: one message under an id of the caller's, due at an absolute time. The same id
         * again replaces message and time.
         *
         * @param non-empty-string $member the id
         * @param int|float $score Unix seconds
         * @param array<array-key, mixed> $message
         * @return true
         * @throws \DelayQueue\DuplicateJobException when the job is reserved at this moment
         * @throws \DelayQueue\PayloadException|\DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function producer(string $member, int|float $score, array $message): bool {}

        /**
         * The classic consumer: takes messages that are due, oldest first, and deletes them at once (at most once).
         *
         * @param int|float|null $maxScore Unix seconds; null: now
         * @param positive-int $limit
         *
         * With keys it takes jobs one by one, in the order of reserve(), so that those that cannot be opened are buried. Once it has taken
         * some it returns these, and the next call throws if the error lasts.
         *
         * @return list<mixed> decoded payloads; one that is not JSON, or sealed while this object has no keys, comes as its bytes, with a
         *     warning; an exception that an error handler makes of that warning is dropped, since the messages are deleted and must reach you
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function consumer(int|float|null $maxScore = null, int $limit = 10): array {}

        /**
         * Serves these queues from now on, the first one first; none: the object's own queue.
         *
         * @return $this
         */
        public function watch(string ...$queues): static {}

        /**
         * Takes the next job under a lease of its TTR. Order: smaller priority, then earlier due time, then push order; jobs that were
         * pushed for the very same absolute moment come in the order of their ids (generated ids are time-ordered). Groups (see NewJob::$group) stand in line with the jobs of default priority that have none: a job without a group that is more urgent comes before all
         * groups, a less urgent one after them.
         * Signal handlers run while it waits.
         *
         * @param int|float|null $timeout seconds to wait at most; 0: do not wait, null: for ever
         * @return \DelayQueue\Job|null null when there is none in time, or stop() was called
         * @throws \DelayQueue\ConnectionException with a $timeout of 0 also when Redis takes back the jobs of so many ended leases that it does
         *     not get to this call within the readTimeout: call again
         * @throws \DelayQueue\ServerException
         */
        public function reserve(int|float|null $timeout = 0): ?\DelayQueue\Job {}

        /**
         * Takes up to $max jobs in one round trip, as soon as at least one is there. A job whose lease expired once, and one on its last
         * attempt, comes alone. Of jobs that come together, only the first loses an attempt if its lease expires.
         *
         * @param positive-int $max more than 500 counts as 500
         * @param int|float|null $timeout as in reserve()
         * @return list<\DelayQueue\Job>
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function reserveMany(int $max, int|float|null $timeout = 0): array {}

        /**
         * Takes a given job, if it is ready, delayed or buried. A buried one that is released, or whose lease ends while it has attempts
         * left, is ready from then on.
         *
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function reserveJob(string $id): ?\DelayQueue\Job {}

        /**
         * Waits until one of the watched queues has a ready job, and takes none. Signal handlers run while it waits.
         *
         * @param int|float|null $timeout as in reserve()
         * @return bool false when there was none in time, or stop() was called
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function wait(int|float|null $timeout = null): bool {}

        /**
         * Acknowledges many jobs in one round trip for each Redis and queue. Where one of these fails, the others are acknowledged before it
         * throws.
         *
         * @param \DelayQueue\Job ...$jobs the type is wider because QueueInterface says so: a JobInterface of another class is not a job of
         *     Redis, and is a \TypeError before anything is sent
         * @mago-expect analysis:incompatible-parameter-type
         *
         * @return int<0, max> how many were still ours
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function ackMany(\DelayQueue\JobInterface ...$jobs): int {}

        /**
         * The worker loop: reserve, call the handler, settle.
         *
         * A handler may run a loop of its own. When its time is over or its job is cancelled, the inner loop ends
         * first, the job in hand goes back uncounted, and the exception is thrown where that loop was called.
         *
         * Signal handlers that a handler or listener installs run beside those of the loop. An alarm (pcntl_alarm())
         * ends with the job that set it, and so do blocked signals.
         *
         * @param (callable(\DelayQueue\Job, \DelayQueue): mixed)|(callable(list<\DelayQueue\Job>, \DelayQueue): mixed) $handler one that cannot be called so is a \TypeError.
         *     Returns, whatever it returns: ack; throws Release, RateLimited, Bury or anything else: release, give back
         *     uncounted, bury or fail; a job the handler settled itself is left alone, and no event tells of it
         * @param int|float $idleTimeout seconds without a job after which listeners hear of Event::Idle, and again after each as many
         * @param int<0, max> $maxJobs 0: no limit
         * @param Duration $maxTime 0: no limit
         * @param int<0, max>|non-empty-string $memoryLimit bytes, or as in php.ini ('128M'); 0: no limit
         * @param bool $stopWhenEmpty return as soon as nothing is ready
         * @param int<1, 500> $prefetch how many jobs one round trip may take. A job that is done is acknowledged with the next trip or 50 ms
         *     later, whichever is first, and its lease is kept until then. A job whose lease expired once, and one on its last attempt, is
         *     leased alone. When a worker dies, only the first of the jobs that it had fetched loses an attempt
         * @param Duration $timeout limit of one run of the handler; 0: none
         * @param Duration $graceTimeout how long a stuck handler is waited for after its timeout or $shutdownTimeout. Then its job is failed or
         *     given back, with the heartbeat the jobs fetched along with it are given back, too, and the process ends with 124
         * @param bool $heartbeat renew leases until their jobs are settled; it never shortens one
         * @param bool $throwOnCancel throw a CancelledException into the handler when its job is cancelled. With the heartbeat, a worker hears
         *     within a second of a cancel(): Event::Cancelled is told, isLost() is true
         * @param Duration $shutdownTimeout how long after the first SIGTERM, SIGINT or SIGQUIT a handler may go on; then a ShutdownException is
         *     thrown into it. However it ends then, by an exception, exit() or a fatal error, its job goes back to its old place, and the attempt
         *     does not count. Only a handler that has settled the job, or returns, decides as always. 0: the handler may finish
         * @param int<1, 500>|null $batch the handler gets a list of up to so many jobs of one queue, with its keys 0, 1, 2 …: those that are ready, or come
         *     within $within. A job whose lease expired once, and one on its last attempt, is a batch of its own. What the handler has not settled
         *     itself ends as its run does: a return acknowledges all, an exception fails, releases or buries all. Each has its own events.
         *     $timeout is the longest of theirs. It takes the place of $prefetch. Not with $throwOnCancel: a job that was cancelled says it by isLost()
         * @param Duration $within how long a batch that is not full waits for more, at most until a second before the first of its leases ends
         * @param (callable(\DelayQueue\Job): ?string)|null $task the name by which tasks() counts the run of a job; null: `task` of its payload, and none in
         *     a queue with keys whose payloads nobody else can read
         */
        public function consume(
            callable $handler,
            int|float $idleTimeout = 5,
            int $maxJobs = 0,
            int|float|string|\DateInterval $maxTime = 0,
            int|string $memoryLimit = 0,
            bool $stopWhenEmpty = false,
            int $prefetch = 1,
            int|float|string|\DateInterval $timeout = 0,
            int|float|string|\DateInterval $graceTimeout = 5,
            bool $heartbeat = true,
            bool $throwOnCancel = false,
            int|float|string|\DateInterval $shutdownTimeout = 0,
            ?int $batch = null,
            int|float|string|\DateInterval $within = 0,
            ?callable $task = null,
        ): \DelayQueue\StopReason {}

        /**
         * Runs everything due now: the cron form of consume().
         *
         * @param callable(\DelayQueue\Job, \DelayQueue): mixed $handler
         * @param int<0, max> $limit 0: no limit
         * @return int<0, max> the number of jobs handled
         */
        public function drain(callable $handler, int $limit = 0): int {}

        /**
         * Puts a loop of one's own, which calls reserve(), on the list of workers(), with the queues that this object watches now. An operator's order reaches it
         * within 12 seconds: told to stop or to restart, reserve() and its kin give nothing at once, from then on; paused, they give nothing until
         * their timeout. The loop looks at Enlisted::order() where they do. The list shows the job in hand once it has run for a second.
         *
         * @param string $kind shown in the list
         * @param (callable(\DelayQueue\Job): ?string)|null $task as of consume()
         * @throws \Error within consume(), in a request of a server, and while this object is on the list
         */
        public function enlist(string $kind = 'worker', ?callable $task = null): \DelayQueue\Enlisted {}

        /** Makes consume() return after the current job, and a waiting reserve() return null. */
        public function stop(): void {}

        /**
         * @param callable(\DelayQueue\Event, ?\DelayQueue\Job, ?\Throwable, ?float): void $listener called with the event, its job, why the job
         *     failed or the connection was lost, and for how many seconds the handler of the job has run. All but the event are null where there
         *     are none; a LeaseLost that is heard of after the end of the job has no seconds.
         * @return $this
         */
        public function on(\DelayQueue\Event $event, callable $listener): static {}

        /**
         * Looks at a job without taking it.
         *
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function peek(string $id): ?\DelayQueue\JobInfo {}

        /**
         * Removes jobs in any state. The holder of a reserved one gets LeaseLostException from ack(). In consume(), or after keepAlive(), it hears
         * of it within a second: isLost() is true.
         *
         * @return int<0, max> how many there were
         * @throws \DelayQueue\ConnectionException with $ambiguous also when an answer was lost: the jobs are gone, how many there
         *     were is unknown; or when it failed behind some of the jobs, or in one of several partitions: the message says how many are cancelled
         * @throws \DelayQueue\ServerException
         */
        public function cancel(string ...$ids): int {}

        /**
         * Moves a delayed, ready or buried job to a new time.
         *
         * @param Duration|\DateTimeInterface $delay
         * @param bool $held true: also a job that a worker holds. It comes back by that time at the latest, if it is given back without a failure
         *     (Job::release(), a thrown Release); if it fails or ends, this is forgotten
         * @return bool false when it is not there, or reserved, unless $held
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function reschedule(string $id, int|float|string|\DateInterval|\DateTimeInterface $delay, bool $held = false): bool {}

        /**
         * Changes the payload, the headers and the time of a job that no worker holds, in one step.
         *
         * @param mixed $payload null keeps it
         * @param array<array-key, string|null>|null $headers those that change, by their names: null removes one, all others stay
         * @param Duration|\DateTimeInterface|null $delay as in reschedule(); null keeps its time
         * @param \DelayQueue\JobInfo|null $unchanged only if its record and its time are still those of this look, which this queue gave
         * @return bool false when it is not there, reserved, or changed
         * @throws \DelayQueue\PayloadException
         * @throws \DelayQueue\SealException when it is sealed and cannot be opened
         * @throws \DelayQueue\ConnectionException with $ambiguous also when an answer was lost, and the job is not as $unchanged says: this very
         *     call may have changed it
         * @throws \DelayQueue\ServerException
         */
        public function update(
            string $id,
            mixed $payload = null,
            ?array $headers = null,
            int|float|string|\DateInterval|\DateTimeInterface|null $delay = null,
            ?\DelayQueue\JobInfo $unchanged = null,
        ): bool {}

        /**
         * Seals a job that no worker holds with the first key, and in the way, of this object; all else of the job stays.
         *
         * @param bool $plain true: also a job that is not sealed. That vouches for it, whoever pushed it
         * @return bool false when it is sealed so already, not there, or reserved
         * @throws \Error when this object has no keys
         * @throws \DelayQueue\SealException when it cannot be opened, or is not sealed and $plain is false
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function reseal(string $id, bool $plain = true): bool {}

        /**
         * Makes a buried or delayed job ready now.
         *
         * @return bool false when there is no such job; true also when the answer was lost and the job is ready, or reserved, at the repeat
         * @throws \DelayQueue\ConnectionException with $ambiguous also when the answer was lost and the job is gone since: it may have
         *     been kicked and served
         * @throws \DelayQueue\ServerException
         */
        public function kickJob(string $id, bool $resetAttempts = true): bool {}

        /** @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException */
        public function peekReady(): ?\DelayQueue\JobInfo {}

        /** @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException */
        public function peekDelayed(): ?\DelayQueue\JobInfo {}

        /** @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException */
        public function peekBuried(): ?\DelayQueue\JobInfo {}

        /**
         * A page of the jobs of one state, in their order: ready jobs by priority and due time, delayed ones by due time, reserved ones by the end of
         * their lease, buried ones oldest first; equal ones by id. With partitions one partition comes after the other. Ready jobs of groups stand among
         * those of default priority by due time, also where they may not be served now: turns and priorities within a group do not show here.
         *
         * With $after the page begins behind the place of that job, whether it is still there or not, and $offset counts from there. Begin each
         * page behind the last job of the one before: then a job that keeps its state and its place is shown once, whatever comes and goes
         * meanwhile. A renewed lease changes the place of a reserved job. Where Redis takes no writes, ready jobs of other priorities than the
         * default one may change theirs.
         *
         * @param int<0, max> $offset
         * @param positive-int $limit
         * @param \DelayQueue\JobInfo|string|null $after a job in the state that is listed, or the JobInfo::place() of
         *     one
         * @param non-empty-string|null $group only its delayed, ready or reserved jobs, in the order of the group: a job that came back to an
         *     ordered group first, then by priority, due time, id. Not together with $after, and not of buried jobs
         * @return list<\DelayQueue\JobInfo>
         * @throws \ValueError also when $after is in another state, or is no place; and for buried jobs of a group: a
         *     group does not know its buried jobs
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function list(
            \DelayQueue\State $state,
            int $offset = 0,
            int $limit = 100,
            \DelayQueue\JobInfo|string|null $after = null,
            ?string $group = null,
        ): array {}

        /**
         * Jobs in one state, or in all. A delayed job that is due counts as ready.
         *
         * @return int<0, max>
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function count(?\DelayQueue\State $state = null): int {}

        /**
         * How many waiting jobs, delayed and ready ones, are due before each of these moments. A job that is due at the very moment does not count.
         * The cost hardly depends on the number of jobs: O(log N) for each moment. A job whose lease has ended counts as soon as a worker, or
         * any look but this one, has taken it back.
         *
         * @return list<int<0, max>> in the order of the moments
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function countDue(\DateTimeInterface ...$until): array {}

        /**
         * Makes buried jobs ready, the oldest first, in bounded steps.
         *
         * @param positive-int|null $max null: all that are buried now
         * @return int<0, max>
         * @throws \DelayQueue\ConnectionException with $ambiguous also when it failed behind some of the jobs, or in one of several partitions: the
         *     message says how many are kicked
         * @throws \DelayQueue\ServerException
         */
        public function kick(?int $max = null, bool $resetAttempts = true): int {}

        /**
         * From now on reserve() of every process gives nothing of the queue, or of a group. It replaces what rateLimit() has set.
         *
         * @param Duration|null $for null: until resume()
         * @param non-empty-string|null $group null: the queue
         * @throws \DelayQueue\ConnectionException with $ambiguous also when one of several partitions failed and others are paused; so resume()
         * @throws \DelayQueue\ServerException
         */
        public function pause(int|float|string|\DateInterval|null $for = null, ?string $group = null): void {}

        /**
         * Opens the queue, or a group, at once, whether pause() or rateLimit() has closed it.
         *
         * @param non-empty-string|null $group null: the queue
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function resume(?string $group = null): void {}

        /**
         * Whether pause() or rateLimit() keeps the queue, or a group, closed now. A group may be open in a queue that is closed.
         *
         * @param non-empty-string|null $group null: the queue
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function isPaused(?string $group = null): bool {}

        /**
         * Closes the queue, or a group, for so long: the answer to "too many requests". Where it is closed for longer already, it stays so. A
         * handler throws RateLimited instead, which gives back its job, too.
         *
         * @param Duration $for
         * @param non-empty-string|null $group null: the queue
         * @throws \DelayQueue\ConnectionException with $ambiguous also when one of several partitions failed and others are closed
         * @throws \DelayQueue\ServerException
         */
        public function rateLimit(int|float|string|\DateInterval $for, ?string $group = null): void {}

        /**
         * Limits a group, or each group that has no limits of its own. Limits hold for all workers, from the next job that one takes; jobs
         * that run already count at once. They are kept in Redis until they are replaced or forgotten, also while the group has no jobs.
         *
         * A job that may not be served now waits, and burns no attempt: it is not ready for reserve(), wait(), $stopWhenEmpty and drain(), which
         * wait or end as for a delayed one. It counts in $ready and $blocked of stats(). reserveJob() passes over order, limits and pauses, and
         * its jobs count against them. consumer() ignores all of them.
         *
         * @param non-empty-string|null $group null: all groups without limits of their own
         * @param \DelayQueue\GroupLimits|null $limits null: forget them
         * @throws \DelayQueue\ConnectionException with $ambiguous also when one of several partitions failed and others have the limits
         * @throws \DelayQueue\ServerException
         */
        public function limitGroups(?string $group = null, ?\DelayQueue\GroupLimits $limits = null): void {}

        /**
         * Limits all jobs of the queue together, with a group or without one. All null: forget that.
         *
         * @param int<1, 4294967295>|null $concurrency as of GroupLimits, and so the others
         * @param non-empty-string|null $rate
         * @param int<1, 4294967295>|null $burst
         * @throws \ValueError also with the option partitions above 1: each partition is served by itself, and does not know how many jobs of the
         *     others run. Limits can be forgotten then
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function limitQueue(?int $concurrency = null, ?string $rate = null, ?int $burst = null): void {}

        /**
         * The limits that are set: of the queue, of all groups without limits of their own, and of groups by their names. As in every PHP array,
         * a name such as '123' is the key 123.
         *
         * @return array{queue: \DelayQueue\GroupLimits|null, others: \DelayQueue\GroupLimits|null, groups: array<array-key, \DelayQueue\GroupLimits>}
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function limits(): array {}

        /**
         * The names of groups with delayed, ready or reserved jobs, in the order of their bytes. Begin each page behind the last name of the one
         * before.
         *
         * @param positive-int $limit
         * @param string $after only names behind this one
         * @return list<non-empty-string>
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function groups(int $limit = 100, string $after = ''): array {}

        /**
         * How many jobs a group has, and when it is its turn. A group that nobody knows has none.
         *
         * @param non-empty-string $group
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function groupStats(string $group): \DelayQueue\GroupStats {}

        /**
         * Removes the delayed and ready jobs of a group, in bounded steps, each within the readTimeout. Buried ones stay, and so do limits
         * and pauses.
         *
         * @param non-empty-string $group
         * @param bool $reserved true: also the jobs that workers hold, as cancel() does
         * @return int<0, max> how many
         * @throws \DelayQueue\ConnectionException with $ambiguous also as of purge()
         * @throws \DelayQueue\ServerException
         */
        public function cancelGroup(string $group, bool $reserved = false): int {}

        /**
         * Deletes all jobs of these states, in bounded steps, each within the readTimeout; none named: of all.
         *
         * @return int<0, max> how many
         * @throws \DelayQueue\ConnectionException with $ambiguous also when an answer was lost: the jobs are gone, how many there
         *     were is unknown; or when it failed behind some of the jobs, or in one of several partitions: the message says how many are deleted
         * @throws \DelayQueue\ServerException
         */
        public function purge(\DelayQueue\State ...$states): int {}

        /**
         * Forgets a queue that is empty and unused: its counters and its fencing numbers, which begin anew, and its name in queues().
         *
         * It is in use, and stays as it is, while it has jobs in any state, is paused, or a consumer waits for its jobs. With partitions, the counters of
         * those that are not in use may be gone all the same. A push makes the queue again. It is in queues() again with the first push of a
         * process, and of one that has pushed to it within the last minute with the first push after that minute.
         *
         * @return bool true: it is not there any more, or never was; false: it is in use
         * @throws \DelayQueue\ConnectionException
         * @throws \DelayQueue\ServerException also without the right `+unlink`, which no other call needs
         */
        public function forget(): bool {}

        /** @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException */
        public function stats(): \DelayQueue\Stats {}

        /**
         * The time by Redis' clock, to which delays, moments and leases belong, in Unix seconds; moved as Testing says. With partitions on several
         * servers that of the first one.
         *
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function now(): float {}

        /**
         * The names of all queues under this prefix. Where the list was deleted, as by FLUSHDB, a queue is in it again with the first push
         * of a process, and of one that goes on pushing after a minute.
         *
         * @return list<non-empty-string>
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function queues(): array {}

        /**
         * How many partitions of this queue have been pushed to, as far as the index of queues knows; 0 for a queue that is not in it.
         *
         * @return non-negative-int
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function partitions(): int {}

        /**
         * The loops of consume() and drain() under this prefix that have run for a second or more, each with what it said of itself within the
         * last 28 seconds. One that ends is off the list at once; one that was killed, within 28 seconds. Times are by the clock of Redis.
         * All of them, those of a host, one process, or those that serve a queue.
         *
         * `kind` is the program: that of enlist(), or 'worker'. `state` is `paused` where the worker takes no more jobs, though it may be finishing one, and `stopping` where it was told to end.
         * `job` is the one that it runs, shown once it has run for a second. `memory` is what the process has in RAM, in bytes, where its system tells. `orders` are those that it
         * has not heard yet. All of it was written by the workers: texts may be anything, and an id that is not UTF-8 has U+FFFD in it.
         *
         * @param int|null $pid only with a host
         * @return list<array{
         *     host: string,
         *     pid: int,
         *     kind: string,
         *     state: 'idle'|'working'|'paused'|'stopping',
         *     queues: list<non-empty-string>,
         *     job: array{queue: string, id: string, since: float}|null,
         *     memory: int|null,
         *     version: string,
         *     startedAt: float,
         *     seenAt: float,
         *     orders: list<'stop'|'restart'|'pause'|'resume'>,
         * }> by host and process
         *
         * @throws \ValueError|\DelayQueue\ConnectionException
         * @throws \DelayQueue\ServerException also where the Redis user may not read the list: see `docs/acl.md`
         */
        public function workers(?string $host = null, ?int $pid = null, ?string $queue = null): array {}

        /**
         * How often each task has run, under this prefix: every loop of consume(), drain() and enlist() adds what it has counted at its end, and every 12
         * seconds. A worker that is killed loses what it had not added. The numbers only grow. Names are cut at 100 bytes; what comes after 200 of
         * them counts as 'others'.
         *
         * @return array<array-key, array{runs: int<0, max>, failures: int<0, max>, seconds: float}> by the names of tasks
         * @throws \DelayQueue\ConnectionException
         * @throws \DelayQueue\ServerException also where the Redis user may not read them: see `docs/acl.md`
         */
        public function tasks(): array {}

        /**
         * Gives an order to the workers that are in the list now: all of them, those of a host, one process (as workers() names them), or those
         * that serve a queue. A worker sees it within 12 seconds, and obeys after the current job. A worker that starts later is
         * not told. An order can be lost with a connection or a server that fails in the moment in which the worker hears it: workers() shows it.
         *
         * @param int|null $pid only with a host
         * @return non-negative-int how many were told
         * @throws \ValueError
         * @throws \DelayQueue\ConnectionException some may have been told
         * @throws \DelayQueue\ServerException
         */
        public function tellWorkers(\DelayQueue\WorkerOrder $order, ?string $host = null, ?int $pid = null, ?string $queue = null): int {}

        /**
         * Checks this Redis for facts that endanger jobs, and names a cure for each.
         *
         * @param bool $repair jobs of this queue that lie in no state, because another program has changed its keys: those that a worker
         *     held go back to their place, the others are buried, since their due times are lost
         * @return list<array{level: 'ok'|'warn'|'error', check: string, message: string}>
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function doctor(bool $repair = false): array {}

        /**
         * Loads the scripts of this version into Redis, into each master of a cluster, for users that may run them (EVALSHA) and may not send any
         * (EVAL). All other users need no call of this. A server forgets its scripts when it restarts, and a replica that takes over has
         * none. Needs the right `+script|load` alone; see `docs/acl.md`.
         *
         * @return positive-int the number of servers that have them now
         * @throws \DelayQueue\ConnectionException|\DelayQueue\ServerException
         */
        public function installScripts(): int {}

        /** Closes the connection; the next command opens a new one. */
        public function close(): void {}

        /**
         * The name of this queue.
         *
         * @return non-empty-string
         */
        public function name(): string {}

        /** What the constructor was told, without its secrets. Asks no Redis. */
        public function settings(): \DelayQueue\QueueSettings {}
    }
}
