<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use Closure;
use DelayQueue\Console\UsageException;
use DelayQueue\Flow\Follow;
use DelayQueue\Worker\HandlerObject;
use DelayQueue\Worker\Signature;
use DelayQueue\Worker\TaskRouter;
use InvalidArgumentException;
use Psr\Container\ContainerInterface;
use ReflectionMethod;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Throwable;

/** From what the command line names to the callable. Loads the user's code, so it belongs into the worker's process. */
final class HandlerLoader
{
    public static function describe(Command $command): void
    {
        $command
            ->addArgument(
                'handler',
                InputArgument::REQUIRED,
                'A PHP file that returns a callable or an object, Class::method, or a class with __invoke() or handle()',
            )
            ->addOption('bootstrap', null, InputOption::VALUE_REQUIRED, 'A PHP file to load first, such as vendor/autoload.php')
            ->addOption('container', null, InputOption::VALUE_REQUIRED, 'A PHP file that returns a PSR-11 container, which makes the object of the handler\'s class');
    }

    /**
     * Loads the file of --bootstrap. It may read settings of the queue from a .env file, so it comes before the queue.
     *
     * @throws UsageException when it cannot be loaded
     */
    public static function bootstrap(InputInterface $input): void
    {
        $bootstrap = $input->getOption('bootstrap');
        if ($bootstrap !== null) {
            self::attempt(
                "the bootstrap $bootstrap",
                static fn (): mixed => is_file($bootstrap) ? self::run($bootstrap) : throw new UsageException('no such file'),
            );
        }
    }

    /** @throws UsageException when it cannot be loaded, or is not a handler */
    public static function load(InputInterface $input): callable
    {
        [$handler, $file] = [$input->getArgument('handler'), $input->getOption('container')];
        $container = $file === null ? null : self::attempt("the container $file", static fn (): ContainerInterface => self::container($file));
        $takesMany = BatchOption::of($input) !== [];

        return self::attempt(
            "the handler $handler",
            static fn (): callable => self::handler(self::resolve($handler, $container), $takesMany),
        );
    }

    private static function container(string $file): ContainerInterface
    {
        $container = is_file($file) ? self::returned($file) : throw new UsageException('no such file');

        return $container instanceof ContainerInterface
            ? $container
            : throw new UsageException('it returns no Psr\Container\ContainerInterface, but ' . get_debug_type($container));
    }

    /** The value that the file returns; PHP gives 1 for a file that returns nothing. */
    private static function returned(string $file): mixed
    {
        $value = self::run($file);

        return $value === 1 ? throw new UsageException('the file returns nothing: end it with "return" and the handler, or the container') : $value;
    }

    /** In a scope without a class and without variables: the file is none of ours. */
    private static function run(string $file): mixed
    {
        return Closure::bind(static fn (): mixed => require func_get_arg(0), null, null)($file);
    }

    private static function resolve(string $handler, ?ContainerInterface $container): mixed
    {
        if (is_file($handler)) {
            return self::returned($handler);
        }
        [$class, $method] = explode('::', $handler, 2) + [1 => null];
        if (!class_exists($class) && !$container?->has($class)) {
            throw new UsageException('neither a file nor a class' . (str_contains($handler, '/') ? '' : ' (does --bootstrap load it?)'));
        }
        if ($method !== null && !method_exists($class, $method)) {
            throw new UsageException("the class has no method $method()");
        }
        if ($method !== null && (new ReflectionMethod($class, $method))->isStatic()) {
            return [$class, $method];
        }
        $object = $container?->has($class) ? $container->get($class) : new $class();

        return $method === null ? $object : [$object, $method];
    }

    /** An object may have hooks beside its handler. */
    private static function handler(mixed $found, bool $takesMany): callable
    {
        if ($found instanceof TaskRouter && !$takesMany) {
            // It follows chains by itself, and names the tasks of its jobs.
            return $found;
        }
        $isObject = is_object($found) && !$found instanceof Closure;
        if (!$isObject && !is_callable($found)) {
            throw new UsageException('it is not callable, but ' . get_debug_type($found));
        }
        try {
            if ($takesMany) {
                return Follow::many($isObject ? HandlerObject::many($found) : $found);
            }
            $isObject || Signature::ofHandler($found, 'the handler');

            return new Follow($isObject ? new HandlerObject($found) : $found);
        } catch (InvalidArgumentException $error) {
            throw new UsageException($error->getMessage(), 0, $error);
        }
    }

    private static function attempt(string $what, callable $load): mixed
    {
        try {
            return $load();
        } catch (UsageException $error) {
            throw new UsageException("cannot load $what: {$error->getMessage()}", 0, $error);
        } catch (Throwable $error) {
            $where = "{$error->getFile()}:{$error->getLine()}";
            throw new UsageException("cannot load $what: " . $error::class . " {$error->getMessage()} ($where)", 0, $error);
        }
    }
}
