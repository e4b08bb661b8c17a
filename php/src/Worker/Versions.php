<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use Closure;
use DelayQueue\Bury;
use DelayQueue\Internal\Json;
use DelayQueue\JobInterface;
use DelayQueue\Release;
use InvalidArgumentException;

/**
 * The names and versions of tasks, for jobs that waited through a deploy: see TaskRouter.
 *
 * @internal
 */
final class Versions
{
    /** How long a job waits for a worker of a newer release. */
    private const NEWER = '30s';

    /** @var array<string, string> tasks by their other names */
    private readonly array $aliases;

    /** @var array<string, array<positive-int, Closure>> by tasks and versions, the oldest first */
    private readonly array $upcasters;

    /**
     * @param array<string, mixed> $tasks by their names
     * @param array<string, string> $aliases
     * @param array<string, array<positive-int, callable>> $upcasters
     *
     * @throws InvalidArgumentException
     */
    public function __construct(array $tasks, array $aliases, array $upcasters)
    {
        $resolved = [];
        foreach ($aliases as $alias => $task) {
            if (!is_string($task) || array_is_list($aliases)) {
                throw new InvalidArgumentException("the alias '$alias' is not the name of a task by another name: " . get_debug_type($task));
            }
        }
        foreach (array_keys($aliases) as $alias) {
            $resolved[$alias] = self::resolve((string) $alias, $tasks, $aliases);
        }
        $this->aliases = $resolved;
        foreach ($upcasters as $task => $steps) {
            if (!isset($tasks[$task])) {
                throw new InvalidArgumentException("there are upcasters of task '$task', which has no handler");
            }
            $upcasters[$task] = self::steps("$task", $steps);
        }
        $this->upcasters = $upcasters;
    }

    public function taskOf(string $name): string
    {
        return $this->aliases[$name] ?? $name;
    }

    /**
     * The params as the handler of this task takes them.
     *
     * @throws Release if the job is of a newer version
     * @throws Bury so does its last attempt; and if its version is none, or too old
     */
    public function paramsOf(string $task, JobInterface $job): mixed
    {
        $steps = $this->upcasters[$task] ?? [];
        $current = (array_key_last($steps) ?? 0) + 1;
        $version = $job->payload['version'] ?? 1;
        if (!is_int($version) || $version < 1) {
            throw new Bury('the version of the payload is not a positive integer: ' . Json::line($version));
        }
        if ($version > $current) {
            $why = "task '$task' has version $version, this worker knows version $current";
            // A release alone would bring it back for ever where no newer worker comes.
            throw $job->attempts >= $job->maxAttempts && $job->maxAttempts > 0 ? new Bury($why) : new Release(self::NEWER, $why);
        }
        if ($version !== $current && !isset($steps[$version])) {
            throw new Bury("task '$task' has version $version, this worker knows versions " . array_key_first($steps) . " to $current");
        }
        $params = $job->payload['params'] ?? null;
        for (; $version < $current; $version++) {
            $params = $steps[$version]($params);
        }

        return $params;
    }

    private static function resolve(string $alias, array $tasks, array $aliases): string
    {
        if (isset($tasks[$alias])) {
            throw new InvalidArgumentException("the alias '$alias' is a task with a handler");
        }
        $task = $alias;
        for ($hops = 0; isset($aliases[$task]) && $hops <= count($aliases); $hops++) {
            $task = $aliases[$task];
        }
        if (isset($aliases[$task])) {
            throw new InvalidArgumentException("the alias '$alias' leads in a circle");
        }

        return isset($tasks[$task]) ? $task : throw new InvalidArgumentException("the alias '$alias' leads to task '$task', which has no handler");
    }

    /** @return array<positive-int, Closure> */
    private static function steps(string $task, mixed $steps): array
    {
        if (!is_array($steps) || $steps === []) {
            throw new InvalidArgumentException("the upcasters of task '$task' are not an array of callables by versions");
        }
        ksort($steps);
        $first = array_key_first($steps);
        if (!is_int($first) || $first < 1 || array_keys($steps) !== range($first, $first + count($steps) - 1)) {
            throw new InvalidArgumentException("the upcasters of task '$task' are not of one version after another: " . implode(', ', array_keys($steps)));
        }
        foreach ($steps as $version => $step) {
            if (!is_callable($step)) {
                throw new InvalidArgumentException("the upcaster of version $version of task '$task' is not callable: " . get_debug_type($step));
            }
            $steps[$version] = $step(...);
        }

        return $steps;
    }
}
