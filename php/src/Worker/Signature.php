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
use ReflectionIntersectionType;
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
     * Of consume(batch: …): (list<JobInterface> $jobs, QueueInterface $queue).
     *
     * @throws InvalidArgumentException
     */
    public static function ofMany(callable $handler, string $what): void
    {
        // A Pipeline takes no list: middleware is for single jobs.
        $function = new ReflectionFunction(Closure::fromCallable($handler));
        self::check($function, $what, self::jobs(...), self::queue(...));
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

    /**
     * @param callable(string, bool): ?string ...$accepts for each argument: null if a parameter of this type takes it,
     *     else what the argument is; the second: whether the type is a class
     */
    private static function check(ReflectionFunctionAbstract $function, string $what, callable ...$accepts): void
    {
        $count = count($accepts);
        $needed = $function->getNumberOfRequiredParameters();
        if ($needed > $count) {
            throw new InvalidArgumentException("$what needs $needed arguments, and gets $count");
        }
        // A closure of a magic method has none, and takes everything.
        $takes = $function->isVariadic() ? $count : $function->getNumberOfParameters();
        if ($function->isInternal() && $takes === 1 && $count > 1) {
            throw new InvalidArgumentException("$what takes 1 argument, and gets $count");
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
        $gets = $type === null ? null : self::what($accept, $type, $parameter);
        if ($gets !== null) {
            throw new InvalidArgumentException("the parameter $type \${$parameter->getName()} of $what gets $gets");
        }
    }

    /** @return string|null null: the type takes it */
    private static function what(callable $accept, ReflectionType $type, ReflectionParameter $parameter): ?string
    {
        if ($type instanceof ReflectionUnionType || $type instanceof ReflectionIntersectionType) {
            $what = static fn (ReflectionType $one): ?string => self::what($accept, $one, $parameter);
            $all = array_map($what, $type->getTypes());
            $wrong = array_values(array_filter($all, is_string(...)));
            $isEnough = $type instanceof ReflectionUnionType ? count($wrong) < count($all) : $wrong === [];

            return $isEnough ? null : $wrong[0];
        }
        assert($type instanceof ReflectionNamedType);
        $class = $parameter->getDeclaringClass();
        $name = match ($type->getName()) {
            'self' => (string) $class?->getName(),
            'parent' => (string) ($class?->getParentClass() ?: null)?->getName(),
            default => $type->getName(),
        };

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

    /** A double or a decorator has a class of its own, and a handler may be for that alone. */
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
