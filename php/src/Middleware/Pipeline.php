<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use Closure;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Worker\Caller;
use InvalidArgumentException;

/**
 * A handler with middleware around it, for consume(), drain(), `delayqueue work`, and the queue in memory:
 *
 *     $queue->consume(new Pipeline(new TaskRouter([...]), new Trace(), new CircuitBreaker(5, within: '1m', pause: '30s')));
 *
 * Also for one task of a TaskRouter, whose handlers get the params of the task first; middleware does not see them.
 *
 * Middleware is any callable(JobInterface $job, callable(JobInterface): mixed $next, QueueInterface $queue): mixed. It calls $next($job) to go on, and
 * returns what that returns; what it returns or throws instead settles the job as consume() says. The first one is the outermost.
 */
final class Pipeline
{
    /**
     * @internal
     *
     * @var callable
     */
    public readonly mixed $handler;

    private readonly Closure $run;

    /** Pushes the next job of a chain or a batch once all middleware has let this one pass, also that around a TaskRouter. */
    private readonly Follow $followed;

    /**
     * @param callable|object $handler as consume() takes it, or an object with handle(); it may have afterSucceeded() and afterFailed() as HandlerObject says
     * @param callable(JobInterface, callable(JobInterface): mixed, QueueInterface): mixed ...$middleware
     *
     * @throws InvalidArgumentException if the handler is none, or cannot take a job
     */
    public function __construct(callable|object $handler, callable ...$middleware)
    {
        $callable = is_object($handler) ? Caller::callable($handler, 'the handler') : $handler(...);
        $this->handler = $callable;
        $caller = new Caller();
        $this->run = static function (JobInterface $job, QueueInterface $queue, mixed ...$params) use ($callable, $caller, $middleware): mixed {
            // Another job may reach the handler, but the loop tells how its own one ended.
            $called = $callable instanceof self && $params !== [] ? $callable->task(...) : $callable;
            $next = static function (JobInterface $handed) use ($caller, $called, $job, $queue, $params): mixed {
                return $caller->call($called, $job, $queue, ...$params, ...[$handed, $queue]);
            };
            foreach (array_reverse($middleware) as $outer) {
                $next = static fn (JobInterface $handed): mixed => $outer($handed, $next, $queue);
            }

            return $next($job);
        };
        $this->followed = new Follow($this->run);
    }

    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        return ($this->followed)($job, $queue);
    }

    /**
     * Runs as the handler of a task, without following its jobs: the router does.
     *
     * @internal
     */
    public function task(mixed $params, JobInterface $job, QueueInterface $queue): mixed
    {
        return ($this->run)($job, $queue, $params);
    }
}
