<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use Closure;
use DelayQueue\ConnectionException;
use DelayQueue\Event;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use DelayQueue\ServerException;
use DelayQueue\ShutdownException;
use DelayQueue\State;
use DelayQueue\TimeoutException;
use DelayQueue\Worker\Signature;
use InvalidArgumentException;
use Throwable;
use WeakMap;
use WeakReference;

/**
 * A handler of jobs that may be links of a chain or members of a batch:
 *
 *     $queue->consume(new Follow($handler));
 *
 * When the handler has returned, it pushes what follows; then the loop acknowledges the job. A crash in between runs the job again, and what was pushed
 * is not pushed twice. TaskRouter, `delayqueue work` and `delayqueue drain` have it built in. Other jobs cost nothing.
 *
 * Where what follows cannot be pushed, because Redis is away or a queue is full, the job is released and runs again, and its
 * attempt does not count. A handler that acknowledges its job itself has its follower, too, unless the worker dies in between.
 *
 * Of consume(batch: …) each job of the list is followed:
 *
 *     $queue->consume(Follow::many($handler), batch: 100);
 */
final class Follow
{
    private const RETRY_AFTER = '5s';

    /** @var WeakMap<JobInterface, true>|null jobs that are being followed, so that one in another does nothing */
    private static ?WeakMap $followed = null;

    /** @var WeakMap<QueueInterface, true>|null that have a listener */
    private static ?WeakMap $queues = null;

    private readonly Closure $handler;

    /** @param callable(JobInterface, QueueInterface): mixed $handler */
    public function __construct(callable $handler)
    {
        $this->handler = $handler(...);
    }

    /**
     * Returns a handler for consume(batch: …). A job whose follower cannot be pushed runs again; the others are done.
     * The next link of each chain gets what the handler has returned.
     *
     * @param callable(list<JobInterface>, QueueInterface): mixed $handler
     *
     * @return Closure(list<JobInterface>, QueueInterface): mixed
     *
     * @throws InvalidArgumentException if it cannot take a list
     */
    public static function many(callable $handler): Closure
    {
        Signature::ofMany($handler, 'the handler');

        return static function (array $jobs, QueueInterface $queue) use ($handler): mixed {
            $followed = array_filter($jobs, static fn (JobInterface $job): bool => self::isFollowed($job));
            $result = self::run($followed, $queue, static fn (): mixed => $handler($jobs, $queue));
            foreach ($followed as $job) {
                self::pushOrGiveBack($job, $queue, $result);
            }

            return $result;
        };
    }

    /**
     * @throws Release when what follows cannot be pushed now
     * @throws Throwable that of the handler
     */
    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        if (!self::isFollowed($job)) {
            return ($this->handler)($job, $queue);
        }
        $steps = self::steps($job);
        $result = self::run([$job], $queue, fn (): mixed => ($this->handler)($job, $queue));
        self::push($steps, $job, $queue, $result);

        return $result;
    }

    /** Whether the job is a link or a member, and no Follow around this one takes care of it. */
    private static function isFollowed(JobInterface $job): bool
    {
        $headers = $job->headers;

        return (isset($headers[Chain::HEADER]) || isset($headers[Batch::HEADER])) && !isset(self::$followed[$job]);
    }

    /**
     * Calls the handler, and lets no Follow inside it follow these jobs.
     *
     * @param array<JobInterface> $jobs
     */
    private static function run(array $jobs, QueueInterface $queue, Closure $handler): mixed
    {
        self::$followed ??= new WeakMap();
        foreach ($jobs as $job) {
            self::$followed[$job] = true;
            self::listen($queue);
        }
        try {
            return $handler();
        } finally {
            foreach ($jobs as $job) {
                unset(self::$followed[$job]);
            }
        }
    }

    /** Pushes what follows one job of a list. Where that fails, this job alone is given back. */
    private static function pushOrGiveBack(JobInterface $job, QueueInterface $queue, mixed $result): void
    {
        try {
            self::push(self::steps($job), $job, $queue, $result);
        } catch (TimeoutException | ShutdownException $error) {
            throw $error; // the run of the whole list has to end
        } catch (Throwable $error) {
            self::giveBack($job, $error);
        }
    }

    private static function giveBack(JobInterface $job, Throwable $error): void
    {
        try {
            match (true) {
                $job->isSettled() => self::complain($job, $error),
                $error instanceof Release => $job->release($error->delay, countAttempt: $error->countAttempt, error: $error->getMessage()),
                default => $job->fail($error),
            };
        } catch (LeaseLostException) {
            // Another worker runs it again.
        }
    }

    /** A job that its handler has settled itself is told here, because no event tells of it. One that is lost belongs to somebody else. */
    private static function isDone(JobInterface $job, QueueInterface $queue): bool
    {
        if (!$job->isSettled()) {
            return !$job->isLost();
        }
        $left = $queue->sibling($job->queue)->peek($job->id);
        if ($left?->state === State::Buried) {
            self::tell($job, $queue, (string) $left->lastError);
        }

        return $left === null;
    }

    /** @param list<Step> $steps */
    private static function push(array $steps, JobInterface $job, QueueInterface $queue, mixed $result): void
    {
        foreach (self::isDone($job, $queue) ? $steps : [] as $step) {
            try {
                $step->succeeded($job, $queue, $result);
            } catch (ConnectionException | ServerException $error) {
                $why = "the job was handled, but what follows could not be pushed: {$error->getMessage()}";
                throw new Release(self::RETRY_AFTER, $why, countAttempt: false);
            }
        }
    }

    /** Once per queue object. The queue holds the listener, which must not hold the queue. */
    private static function listen(QueueInterface $queue): void
    {
        self::$queues ??= new WeakMap();
        if (isset(self::$queues[$queue])) {
            return;
        }
        self::$queues[$queue] = true;
        $weak = WeakReference::create($queue);
        $queue->on(Event::Buried, static function (Event $event, ?JobInterface $job, ?Throwable $error) use ($weak): void {
            $queue = $weak->get();
            if ($job !== null && $queue !== null) {
                self::tell($job, $queue, null, $error?->getMessage() ?? 'it was buried');
            }
        });
    }

    /** @param string|null $kept the error as it is kept, which has no passwords of URLs; null: to be read */
    private static function tell(JobInterface $job, QueueInterface $queue, ?string $kept, string $else = ''): void
    {
        self::attempt($job, static function () use ($job, $queue, $kept, $else): void {
            $steps = self::steps($job);
            $error = $kept ?? ($steps === [] ? null : $queue->sibling($job->queue)->peek($job->id)?->lastError) ?? $else;
            foreach ($steps as $step) {
                self::attempt($job, static fn () => $step->buried($job, $queue, $error));
            }
        });
    }

    private static function attempt(JobInterface $job, callable $do): void
    {
        try {
            $do();
        } catch (Throwable $thrown) {
            // Not left to the loop: its warning ends a worker whose error handler turns warnings into exceptions.
            self::complain($job, $thrown);
        }
    }

    private static function complain(JobInterface $job, Throwable $error): void
    {
        $words = $error::class . ": {$error->getMessage()}";
        error_log("what follows job '$job->id' in queue '$job->queue' could not be done: $words");
    }

    /** @return list<Step> */
    private static function steps(JobInterface $job): array
    {
        return array_values(array_filter([
            isset($job->headers[Chain::HEADER]) ? new ChainStep($job->headers[Chain::HEADER], $job->id) : null,
            isset($job->headers[Batch::HEADER]) ? new BatchStep($job->headers[Batch::HEADER]) : null,
        ]));
    }
}
