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
use RuntimeException;
use Throwable;
use WeakMap;

/**
 * A handler of jobs that may be links of a chain or members of a batch:
 *
 *     $queue->consume(new Follow($handler));
 *
 * When the handler has returned, it pushes what follows; then the loop acknowledges the job. A crash in between runs the job again, and what was pushed
 * is not pushed twice. TaskRouter, `delayqueue work` and `delayqueue drain` have it built in. Other jobs cost nothing.
 *
 * Where what follows cannot be pushed, because Redis is away or a queue is full, the job is released and runs again. A handler that acknowledges its job
 * itself has its follower, too, unless the worker dies in between.
 */
final class Follow
{
    private const RETRY_AFTER = '5s';

    /** @var WeakMap<JobInterface, true> jobs that an outer one follows */
    private static WeakMap $followed;

    /** @var WeakMap<QueueInterface, true> that it listens to */
    private readonly WeakMap $queues;

    private readonly Closure $handler;

    /** @param callable(JobInterface, QueueInterface): mixed $handler */
    public function __construct(callable $handler)
    {
        $this->handler = $handler(...);
        $this->queues = new WeakMap();
    }

    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        self::$followed ??= new WeakMap();
        $steps = self::steps($job);
        if ($steps === [] || isset(self::$followed[$job])) {
            return ($this->handler)($job, $queue);
        }
        self::$followed[$job] = true;
        $this->listen($queue);
        $result = ($this->handler)($job, $queue);
        if ($result !== false && (!$job->isSettled() || $queue->sibling($job->queue)->peek($job->id) === null)) {
            foreach ($steps as $step) {
                self::push($step, $job, $queue, $result);
            }
        }

        return $result;
    }

    private static function push(Step $step, JobInterface $job, QueueInterface $queue, mixed $result): void
    {
        try {
            $step->succeeded($job, $queue, $result);
        } catch (ConnectionException | ServerException $error) {
            throw new Release(self::RETRY_AFTER, "the job was handled, but what follows could not be pushed: {$error->getMessage()}");
        }
    }

    /** Once per queue object. */
    private function listen(QueueInterface $queue): void
    {
        if (isset($this->queues[$queue])) {
            return;
        }
        $this->queues[$queue] = true;
        $queue->on(Event::Buried, static function (Event $event, ?JobInterface $job, ?Throwable $error) use ($queue): void {
            foreach ($job === null ? [] : self::steps($job) as $step) {
                self::tell($step, $job, $queue, $error ?? new RuntimeException('the handler returned false'));
            }
        });
    }

    private static function tell(Step $step, JobInterface $job, QueueInterface $queue, Throwable $error): void
    {
        try {
            $step->buried($job, $queue, $error);
        } catch (Throwable $thrown) {
            // Not left to the loop: its warning ends a worker whose error handler turns warnings into exceptions.
            error_log("what follows buried job '$job->id' in queue '$job->queue' could not be done: " . $thrown::class . ": {$thrown->getMessage()}");
        }
    }

    /** @return list<Step> */
    private static function steps(JobInterface $job): array
    {
        return array_values(array_filter([
            isset($job->headers[Chain::HEADER]) ? new ChainStep($job->headers[Chain::HEADER]) : null,
            isset($job->headers[Batch::HEADER]) ? new BatchStep($job->headers[Batch::HEADER]) : null,
        ]));
    }
}
