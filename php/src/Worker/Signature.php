<?php

declare(strict_types=1);

namespace DelayQueue\Worker;

use Closure;
use DelayQueue;
use DelayQueue\Job;
use DelayQueue\JobInterface;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueInterface;
use InvalidArgumentException;
use ReflectionFunction;
use ReflectionFunctionAbstract;
use ReflectionMethod;
use ReflectionNamedType;
use ReflectionParameter;
use ReflectionType;
use ReflectionUnionType;

/**
 * Looks before the first job whether a handler can be called with what handlers get: otherwise each job would fail at each of its attempts.
 *
 * @internal
 */
final class Signature
{
    /** Types of parameters that take a job, or a queue, beside classes. */
    private const ANY = ['mixed', 'object'];

    /**
     * Of consume(): (JobInterface $job, QueueInterface $queue).
     *
     * @throws InvalidArgumentException
     */
    public static function ofHandler(callable $handler, string $what): void
    {
        self::check(self::reflect($handler), $what, self::job(...), self::queue(...));
    }

    /**
     * Of a Chunk: (list<JobInterface> $jobs, QueueInterface $queue).
     *
     * @throws InvalidArgumentException
     */
    public static function ofChunk(callable $handler, string $what): void
    {
        self::check(self::reflect($handler), $what, self::jobs(...), self::queue(...));
    }

    /**
     * Of a TaskRouter: (mixed $params, JobInterface $job, QueueInterface $queue).
     *
     * @param callable|class-string $handler a class is one with __invoke() or handle()
     *
     * @throws InvalidArgumentException
     */
    public static function ofTask(callable|string $handler, string $what): void
    {
        $isClass = is_string($handler) && class_exists($handler);
        $methods = array_filter(['__invoke', 'handle'], static fn (string $name): bool => $isClass && method_exists($handler, $name));
        if ($isClass && $methods === []) {
            return; // said when it is made
        }
        $function = $isClass ? new ReflectionMethod($handler, reset($methods)) : self::reflect($handler);
        self::check($function, $what, self::params(...), self::job(...), self::queue(...));
    }

    /** @param callable(string, bool): ?string ...$accepts for each argument: null if a parameter of this type takes it, else what the argument is. The
     *        second: it is a class */
    private static function check(ReflectionFunctionAbstract $function, string $what, callable ...$accepts): void
    {
        $count = count($accepts);
        $needed = $function->getNumberOfRequiredParameters();
        if ($needed > $count) {
            throw new InvalidArgumentException("$what needs $needed arguments, and gets $count");
        }
        foreach ($function->getParameters() as $number => $parameter) {
            foreach ($parameter->isVariadic() ? array_slice($accepts, $number) : array_slice($accepts, $number, 1) as $accept) {
                self::checkParameter($parameter, $what, $accept);
            }
        }
    }

    private static function checkParameter(ReflectionParameter $parameter, string $what, callable $accept): void
    {
        $type = $parameter->getType();
        $isWrong = static fn (ReflectionType $one): bool => $one instanceof ReflectionNamedType && self::what($accept, $one, $parameter) !== null;
        $wrong = match (true) {
            $type === null => [],
            // One of them is enough.
            $type instanceof ReflectionUnionType => count(array_filter($type->getTypes(), $isWrong)) === count($type->getTypes()) ? $type->getTypes() : [],
            default => array_filter([$type], $isWrong),
        };
        if ($wrong !== []) {
            throw new InvalidArgumentException("the parameter $type \${$parameter->getName()} of $what gets " . self::what($accept, $wrong[0], $parameter));
        }
    }

    private static function what(callable $accept, ReflectionNamedType $type, ReflectionParameter $parameter): ?string
    {
        $name = $type->getName() === 'self' ? (string) $parameter->getDeclaringClass()?->getName() : $type->getName();

        return $accept($name, !$type->isBuiltin());
    }

    private static function job(string $type, bool $isClass): ?string
    {
        return self::isRelated($type, $isClass, JobInterface::class, Job::class) ? null : 'a ' . JobInterface::class;
    }

    private static function queue(string $type, bool $isClass): ?string
    {
        return self::isRelated($type, $isClass, QueueInterface::class, DelayQueue::class) ? null : 'a ' . QueueInterface::class;
    }

    private static function jobs(string $type): ?string
    {
        return in_array($type, ['array', 'iterable', 'mixed'], true) ? null : 'a list of jobs';
    }

    /** They may be anything but a job or a queue: an upcaster may make objects. */
    private static function params(string $type, bool $isClass): ?string
    {
        $isWrong = $isClass && (is_a($type, JobInterface::class, true) || is_a($type, QueueInterface::class, true));

        return $isWrong ? 'the params of the task; the job is the second argument' : null;
    }

    /** The queue in memory has classes of its own, and a handler may be for its jobs alone. */
    private static function isRelated(string $type, bool $isClass, string $interface, string $class): bool
    {
        return $isClass ? is_a($type, $interface, true) || is_a($class, $type, true) : in_array($type, self::ANY, true);
    }

    private static function reflect(callable $callable): ReflectionFunction
    {
        // It hands on whatever it gets: as a handler, or as that of a task.
        while ($callable instanceof Pipeline) {
            $callable = $callable->handler;
        }

        return new ReflectionFunction(Closure::fromCallable($callable));
    }
}
