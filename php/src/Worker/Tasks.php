<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use DelayQueue\Bury;
use DelayQueue\Internal\Excerpt;
use DelayQueue\JobInterface;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\Middleware\Task;
use DelayQueue\QueueInterface;
use InvalidArgumentException;
use Psr\Container\ContainerInterface;

/**
 * The handlers of a TaskRouter.
 *
 * @internal
 */
final class Tasks
{
    private readonly Caller $caller;

    /** @var array<string, object> made without a container */
    private array $made = [];

    /**
     * @param array<string, callable|object|string> $handlers as of TaskRouter
     *
     * @throws InvalidArgumentException if one of them is none
     */
    public function __construct(private readonly array $handlers, private readonly ?ContainerInterface $container, private readonly Versions $versions)
    {
        $this->caller = new Caller();
        foreach ($handlers as $task => $handler) {
            $what = "the handler of task '$task'";
            if (!is_string($handler)) {
                Signature::ofTask(Caller::callable($handler, $what), $what);
            } elseif (class_exists($handler) || (!$container?->has($handler) && is_callable($handler))) {
                Signature::ofTask($handler, $what);
            } elseif (!$container?->has($handler)) {
                throw new InvalidArgumentException("$what is neither a service, nor a class, nor callable: $handler");
            }
        }
    }

    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        $name = Task::of($job);
        if ($name === null) {
            throw new Bury('the payload is not {task: string, params}: ' . Excerpt::of($job->body, 100));
        }
        $task = $this->versions->taskOf($name);
        if (!isset($this->handlers[$task])) {
            $known = implode(', ', array_keys($this->handlers)) ?: 'none';
            throw new Bury(sprintf("unknown task '%s', known here: %s", Excerpt::of($task, 100), $known));
        }
        $params = $this->versions->paramsOf($task, $job);

        return $this->caller->call($this->handler($task), $job, $queue, $params, $job, $queue);
    }

    /** Null where it is unknown here. */
    public function taskOf(JobInterface $job): ?string
    {
        $task = $this->versions->taskOf((string) Task::of($job));

        return isset($this->handlers[$task]) ? $task : null;
    }

    private function handler(string $task): callable
    {
        $handler = $this->handlers[$task];
        if (is_string($handler)) {
            $handler = match (true) {
                $this->container?->has($handler) => $this->container->get($handler),
                class_exists($handler) => $this->made[$handler] ??= new $handler(),
                default => $handler,
            };
        }

        $callable = Caller::callable($handler, "the handler of task '$task'");

        return $callable instanceof Pipeline ? $callable->task(...) : $callable;
    }
}
