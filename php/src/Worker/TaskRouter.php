<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use DelayQueue\Bury;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
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
 *
 * Jobs that waited through a deploy are of the release that pushed them. An alias gives a renamed task its old name, too. An upcaster turns the params of one
 * version into those of the next; the payload of a new job then says its version, {task, params, version}, and one without a version is of version 1:
 *
 *     new TaskRouter(
 *         ['close-order' => $close],
 *         aliases: ['close' => 'close-order'],
 *         upcasters: ['close-order' => [1 => static fn (int $order): array => ['order' => $order]]],
 *     );
 */
final class TaskRouter
{
    private readonly Tasks $tasks;

    private readonly Follow $followed;

    /**
     * @param array<string, callable|object|string> $tasks by their names: a callable, an object with __invoke() or handle(),
     *        the id of such a service in the container, or the class of such an object to be made without arguments
     * @param array<string, string> $aliases tasks by other names
     * @param array<string, non-empty-array<positive-int, callable(mixed): mixed>> $upcasters of tasks, by the versions that they take, without a gap. Each
     *        makes the params of the next version; what the last one makes is for the handler
     *
     * @throws InvalidArgumentException if one of them is none of these or cannot take these arguments, or an alias leads to no task
     */
    public function __construct(array $tasks, ?ContainerInterface $container = null, array $aliases = [], array $upcasters = [])
    {
        $this->tasks = new Tasks($tasks, $container, new Versions($tasks, $aliases, $upcasters));
        $this->followed = new Follow($this->tasks);
    }

    /**
     * @throws Bury if the payload is not a task that is known here, or of a version that is known no more, or not yet in the last attempt
     * @throws Release if it is of a newer version: for a worker of the newer release
     */
    public function __invoke(JobInterface $job, QueueInterface $queue): mixed
    {
        return ($this->followed)($job, $queue);
    }

    /**
     * The task of a job by its present name, null where it is unknown here: `consume($router, task: $router->taskOf(...))`
     * counts an alias as its task, and no name that somebody else has made up.
     */
    public function taskOf(JobInterface $job): ?string
    {
        return $this->tasks->taskOf($job);
    }
}
