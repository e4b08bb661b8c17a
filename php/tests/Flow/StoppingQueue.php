<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\QueueInterface;
use Fiber;
use ReflectionClass;
use ReflectionMethod;
use ReflectionParameter;

/** Makes queues that pass on all calls, and stop their fiber before each request. PHPUnit's doubles do it, too, and are kept to the end of the test. */
final class StoppingQueue
{
    private const REQUESTS = ['peek', 'cancel', 'pushMany', 'pushOnce', 'forgetReceipts'];

    public static function of(QueueInterface $real): QueueInterface
    {
        static $class = null;
        $class ??= self::declared();

        return new $class($real);
    }

    public static function call(QueueInterface $real, string $method, array $arguments): mixed
    {
        if (in_array($method, self::REQUESTS, true)) {
            Fiber::suspend();
        }
        $answer = $real->$method(...$arguments);

        return $answer instanceof QueueInterface ? self::of($answer) : $answer;
    }

    /** @return class-string */
    private static function declared(): string
    {
        $methods = array_map(static function (ReflectionMethod $method): string {
            $parameters = implode(', ', array_map(self::parameter(...), $method->getParameters()));
            $type = $method->hasReturnType() ? ": {$method->getReturnType()}" : '';
            $return = $type === ': void' ? '' : 'return ';

            return "public function $method->name($parameters)$type { $return\\" . self::class . "::call(\$this->real, '$method->name', func_get_args()); }";
        }, (new ReflectionClass(QueueInterface::class))->getMethods());
        eval('final class StoppingQueueOfTests implements \\' . QueueInterface::class
            . ' { public function __construct(private \\' . QueueInterface::class . ' $real) {} ' . implode("\n", $methods) . ' }');

        return 'StoppingQueueOfTests';
    }

    private static function parameter(ReflectionParameter $parameter): string
    {
        return 'mixed ' . ($parameter->isVariadic() ? '...' : '') . "\$$parameter->name" . self::default($parameter);
    }

    private static function default(ReflectionParameter $parameter): string
    {
        return $parameter->isOptional() && !$parameter->isVariadic() ? ' = ' . var_export($parameter->getDefaultValue(), true) : '';
    }
}
