<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use Closure;
use DelayQueue\Event;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use InvalidArgumentException;
use RuntimeException;
use Throwable;
use WeakMap;

/**
 * Calls handlers for consume(), and their afterSucceeded() and afterFailed() when the loop says how their jobs ended.
 *
 * @internal
 */
final class Caller
{
    /** @var WeakMap<QueueInterface, true> that it listens to */
    private readonly WeakMap $queues;

    /** @var WeakMap<JobInterface, object> handlers with hooks, by the job they were called for */
    private readonly WeakMap $handlers;

    public function __construct()
    {
        $this->queues = new WeakMap();
        $this->handlers = new WeakMap();
    }

    /**
     * The callable of a handler.
     *
     * @throws InvalidArgumentException if it is no callable and has no handle()
     */
    public static function callable(mixed $handler, string $what): callable
    {
        $callable = is_object($handler) && !is_callable($handler) ? [$handler, 'handle'] : $handler;
        if (!is_callable($callable)) {
            throw new InvalidArgumentException("$what is neither callable nor an object with handle(): " . get_debug_type($handler));
        }

        return $callable;
    }

    /**
     * @param JobInterface|list<JobInterface> $jobs that it is called for
     *
     * @return mixed what the callable returns
     */
    public function call(
        callable $callable,
        JobInterface|array $jobs,
        QueueInterface $queue,
        mixed ...$arguments,
    ): mixed {
        $handler = is_array($callable) ? $callable[0] : $callable;
        if (self::hook($handler, 'afterSucceeded') !== null || self::hook($handler, 'afterFailed') !== null) {
            foreach (is_array($jobs) ? $jobs : [$jobs] as $job) {
                $this->handlers[$job] = $handler;
            }
            $this->listen($queue);
        }

        return $callable(...$arguments);
    }

    /** Once per queue object. Whatever listens is held by the queue, and does not hold it. */
    private function listen(QueueInterface $queue): void
    {
        if (isset($this->queues[$queue])) {
            return;
        }
        $this->queues[$queue] = true;
        $queue->on(Event::Succeeded, fn (Event $event, ?JobInterface $job) => $this->ended($job, 'afterSucceeded'));
        // A failed attempt that is tried again is Failed alone; the last one is Failed, then Buried.
        $queue->on(Event::Buried, fn (Event $event, ?JobInterface $job, ?Throwable $error) => $this->ended(
            $job,
            'afterFailed',
            $error ?? new RuntimeException('it was buried'),
        ));
    }

    private function ended(?JobInterface $job, string $name, Throwable ...$error): void
    {
        $hook = $job === null ? null : self::hook($this->handlers[$job] ?? null, $name);
        if ($hook === null) {
            return;
        }
        try {
            $hook($job, ...$error);
        } catch (Throwable $thrown) {
            // Not left to the loop: its warning ends a worker whose error handler turns warnings into exceptions.
            error_log("$name() of job '$job->id' in queue '$job->queue' threw " . $thrown::class . ": {$thrown->getMessage()}");
        }
    }

    private static function hook(mixed $handler, string $name): ?Closure
    {
        $exists = is_object($handler) && method_exists($handler, $name) && is_callable([$handler, $name]);

        return $exists ? $handler->$name(...) : null;
    }
}
