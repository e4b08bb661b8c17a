<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use Closure;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use ReflectionClass;
use ReflectionMethod;

/** Makes queues that call a test before and after each call that changes or reads a job: to let the process die there, or stand still. */
final class HookedQueue
{
    private const FREE = ['name', 'settings', 'sibling', 'prepare', 'keepAlive', 'isSettled', 'on', 'watch'];

    /** @param Closure(bool $isOver, string $method): void $hook */
    public static function of(QueueInterface $queue, Closure $hook): QueueInterface
    {
        return new (self::make(QueueInterface::class, 'HookedQueueObject'))($queue, $hook);
    }

    /**
     * @param object $inner queue or job
     * @param array<array-key, mixed> $arguments
     */
    public static function call(object $self, object $inner, Closure $hook, string $method, array $arguments): mixed
    {
        $isFree = in_array($method, self::FREE, true);
        if ($method === 'keepAlive') {
            return null; // of a process that stands still nothing does
        }
        $isFree || $hook(false, $method);
        $result = $inner->$method(...$arguments);
        $isFree || $hook(true, $method);

        return match (true) {
            $result === $inner => $self,
            $method === 'sibling' => self::of($result, $hook),
            $method === 'reserveJob' && $result !== null => new (self::make(JobInterface::class, 'HookedJobObject'))($result, $hook),
            default => $result,
        };
    }

    /** @return class-string */
    private static function make(string $interface, string $name): string
    {
        $class = __NAMESPACE__ . "\\$name";
        if (!class_exists($class, false)) {
            $methods = array_map(static function (ReflectionMethod $method): string {
                $type = str_replace('DelayQueue\\', '\\DelayQueue\\', (string) $method->getReturnType());
                $call = self::class . "::call(\$this, \$this->inner, \$this->hook, '$method->name', \$arguments);";

                $body = ($type === 'void' ? '\\' : 'return \\') . $call;

                return "public function $method->name(mixed ...\$arguments)" . ($type === '' ? '' : ": $type") . " { $body }";
            }, (new ReflectionClass($interface))->getMethods());
            $code = implode("\n", [
                'public function __construct(private object $inner, private \\Closure $hook) {}',
                'public function __get(string $name): mixed { return $this->inner->$name; }',
                ...$methods,
            ]);
            eval('namespace ' . __NAMESPACE__ . "; final class $name implements \\$interface { $code }");
        }

        return $class;
    }
}
