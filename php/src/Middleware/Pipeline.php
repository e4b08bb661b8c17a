<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use Closure;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Worker\HandlerObject;
use DelayQueue\Worker\Signature;
use InvalidArgumentException;

/**
 * A handler with middleware around it, for consume(), drain(), `delayqueue work`, and the queue in memory:
 *
 *     $queue->consume(new Pipeline(new TaskRouter([...]), new CircuitBreaker(5, '1m'), new DontRetry(InvalidArgumentException::class)));
 *
 * Middleware is any callable(JobInterface $job, callable(JobInterface): mixed $next, QueueInterface $queue): mixed. It calls $next($job) to go on, and
 * returns what that returns; what it returns or throws instead settles the job as consume() says. The first one is the outermost.
 */
final class Pipeline
{
    /** @var list<callable(JobInterface, callable(JobInterface): mixed, QueueInterface): mixed> */
    private readonly array $middleware;

    private readonly Closure $handler;

    /**
     * @param callable|object $handler as consume() takes it, or an object with handle(); it may have afterSucceeded() and afterFailed() as HandlerObject says
     * @param callable(JobInterface, callable(JobInterface): mixed, QueueInterface): mixed ...$middleware
     *
     * @throws InvalidArgumentException if the handler is none, or cannot take a job
     */
    public function __construct(callable|object $handler, callable ...$middleware)
    {
        $this->handler = (is_object($handler) && !$handler instanceof Closure ? new HandlerObject($handler) : $handler)(...);
        Signature::ofHandler($this->handler, 'the handler');
        $this->middleware = array_values($middleware);
    }

    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        return $this->through(0, $job, $queue);
    }

    private function through(int $step, JobInterface $job, QueueInterface $queue): mixed
    {
        return isset($this->middleware[$step])
            ? ($this->middleware[$step])($job, fn (JobInterface $job): mixed => $this->through($step + 1, $job, $queue), $queue)
            : ($this->handler)($job, $queue);
    }
}
