<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use DelayQueue\Bury;
use DelayQueue\Flow\Follow;
use DelayQueue\Internal\Excerpt;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use InvalidArgumentException;
use Psr\Container\ContainerInterface;

/**
 * A handler for DelayQueue::consume() and drain() that serves many tasks:
 *
 *     $queue->push(['task' => 'close-order', 'params' => ['order' => 4711]], delay: '15m');
 *
 *     $queue->consume(new TaskRouter([
 *         'close-order' => static function (array $params) use ($shop): void {
 *             $shop->close($params['order']);
 *         },
 *         'remind' => Reminder::class,
 *     ], $container));
 *
 * A task's handler is called as (mixed $params, JobInterface $job, QueueInterface $queue); a payload without params gives null. Headers
 * are in $job->headers; they do not choose the task. What the handler returns or throws settles the job as consume() says. Handler
 * objects may have afterSucceeded() and afterFailed(), see HandlerObject.
 *
 * A job of an unknown task, or with a payload of another shape, is buried: kick() it once a worker knows its task. A payload
 * reaches the tasks named here, and nothing else in the container.
 */
final class TaskRouter
{
    private readonly Caller $caller;

    private readonly Follow $routes;

    /** @var array<string, object> made without a container */
    private array $made = [];

    /**
     * @param array<string, callable|object|string> $tasks by their names: a callable, an object with __invoke() or handle(),
     *        the id of such a service in the container, or the class of such an object to be made without arguments
     *
     * @throws InvalidArgumentException if one of them is none of these
     */
    public function __construct(private readonly array $tasks, private readonly ?ContainerInterface $container = null)
    {
        $this->caller = new Caller();
        $this->routes = new Follow($this->route(...));
        foreach ($tasks as $task => $handler) {
            if (!is_string($handler)) {
                Caller::callable($handler, "the handler of task '$task'");
            } elseif (!$container?->has($handler) && !class_exists($handler) && !is_callable($handler)) {
                $what = "the handler of task '$task'";
                throw new InvalidArgumentException("$what is neither a service, nor a class, nor callable: $handler");
            }
        }
    }

    /** @throws Bury if the payload is not a task that is known here */
    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        return ($this->routes)($job, $queue);
    }

    private function route(JobInterface $job, QueueInterface $queue): mixed
    {
        $payload = $job->payload;
        $task = is_array($payload) ? $payload['task'] ?? null : null;
        if (!is_string($task)) {
            throw new Bury('the payload is not {task: string, params}: ' . Excerpt::of($job->body, 100));
        }
        if (!isset($this->tasks[$task])) {
            $known = implode(', ', array_keys($this->tasks)) ?: 'none';
            throw new Bury(sprintf("unknown task '%s', known here: %s", Excerpt::of($task, 100), $known));
        }

        return $this->caller->call($this->handler($task), $job, $queue, $payload['params'] ?? null, $job, $queue);
    }

    private function handler(string $task): callable
    {
        $handler = $this->tasks[$task];
        if (is_string($handler)) {
            $handler = match (true) {
                $this->container?->has($handler) => $this->container->get($handler),
                class_exists($handler) => $this->made[$handler] ??= new $handler(),
                default => $handler,
            };
        }

        return Caller::callable($handler, "the handler of task '$task'");
    }
}
