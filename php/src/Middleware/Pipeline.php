<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use Closure;
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
    /** @var callable(mixed...): mixed */
    private readonly mixed $handler;

    /** @var list<callable(JobInterface, callable(JobInterface): mixed, QueueInterface): mixed> */
    private readonly array $middleware;

    private readonly Caller $caller;

    /**
     * @param callable|object $handler as consume() takes it, or an object with handle(); it may have afterSucceeded() and afterFailed() as HandlerObject says
     * @param callable(JobInterface, callable(JobInterface): mixed, QueueInterface): mixed ...$middleware
     *
     * @throws InvalidArgumentException if the handler is none
     */
    public function __construct(callable|object $handler, callable ...$middleware)
    {
        $this->handler = is_object($handler) ? Caller::callable($handler, 'the handler') : $handler(...);
        $this->middleware = array_values($middleware);
        $this->caller = new Caller();
    }

    /** @param mixed ...$arguments the job and the queue, or before them the params of a task */
    public function __invoke(mixed ...$arguments): mixed
    {
        [$job, $queue] = array_slice($arguments, -2);
        $params = array_slice($arguments, 0, -2);
        // Another job may reach the handler, but the loop tells how its own one ended.
        $handle = fn (JobInterface $handed): mixed => $this->caller->call($this->handler, $job, $queue, ...$params, ...[$handed, $queue]);

        return $this->through(0, $handle, $job, $queue);
    }

    private function through(int $step, Closure $handle, JobInterface $job, QueueInterface $queue): mixed
    {
        return isset($this->middleware[$step])
            ? ($this->middleware[$step])($job, fn (JobInterface $job): mixed => $this->through($step + 1, $handle, $job, $queue), $queue)
            : $handle($job);
    }
}
