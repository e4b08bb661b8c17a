<?php

declare(strict_types=1);

namespace DelayQueue\Console\Worker;

use DelayQueue\Console\UsageException;
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
                'A PHP file that returns a callable, Class::method, or the name of an invokable class',
            )
            ->addOption('bootstrap', null, InputOption::VALUE_REQUIRED, 'A PHP file to load first, such as vendor/autoload.php');
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
                static fn (): mixed => is_file($bootstrap) ? require $bootstrap : throw new UsageException('no such file'),
            );
        }
    }

    /** @throws UsageException when it cannot be loaded, or is not a handler */
    public static function load(InputInterface $input): callable
    {
        $handler = $input->getArgument('handler');
        $callable = self::attempt("the handler $handler", static fn (): mixed => self::resolve($handler));
        if (!is_callable($callable)) {
            throw new UsageException("the handler $handler is not callable, but " . get_debug_type($callable));
        }

        return $callable;
    }

    private static function resolve(string $handler): mixed
    {
        if (is_file($handler)) {
            return require $handler;
        }
        [$class, $method] = explode('::', $handler, 2) + [1 => '__invoke'];
        if (!class_exists($class)) {
            throw new UsageException('neither a file nor a class' . (str_contains($handler, '/') ? '' : ' (does --bootstrap load it?)'));
        }
        if (!method_exists($class, $method)) {
            throw new UsageException("the class has no method $method()");
        }

        return (new ReflectionMethod($class, $method))->isStatic() ? [$class, $method] : [new $class(), $method];
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
