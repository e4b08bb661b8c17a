<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use Closure;
use DelayQueue\ConnectionException;
use DelayQueue\Event;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use DelayQueue\ServerException;
use DelayQueue\State;
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
     * @throws Release when what follows cannot be pushed now
     * @throws Throwable that of the handler
     */
    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        $steps = self::steps($job);
        self::$followed ??= new WeakMap();
        if ($steps === [] || isset(self::$followed[$job])) {
            return ($this->handler)($job, $queue);
        }
        self::$followed[$job] = true;
        self::listen($queue);
        try {
            $result = ($this->handler)($job, $queue);
        } finally {
            unset(self::$followed[$job]);
        }
        if (self::isDone($job, $queue)) {
            foreach ($steps as $step) {
                self::push($step, $job, $queue, $result);
            }
        }

        return $result;
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

    private static function push(Step $step, JobInterface $job, QueueInterface $queue, mixed $result): void
    {
        try {
            $step->succeeded($job, $queue, $result);
        } catch (ConnectionException | ServerException $error) {
            $why = "the job was handled, but what follows could not be pushed: {$error->getMessage()}";
            throw new Release(self::RETRY_AFTER, $why, countAttempt: false);
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
            error_log("what follows buried job '$job->id' in queue '$job->queue' could not be done: " . $thrown::class . ": {$thrown->getMessage()}");
        }
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
