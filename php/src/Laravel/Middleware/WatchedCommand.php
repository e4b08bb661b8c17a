<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Middleware;

use Closure;
use DelayQueue\Laravel\Job;
use Illuminate\Contracts\Container\Container;
use Illuminate\Pipeline\Pipeline;

/**
 * Stands for a command on its way to Laravel's handler. Its only middleware runs those of the command, each watched.
 *
 * @internal
 */
final class WatchedCommand
{
    /**
     * @param array<mixed> $all the middleware of the command
     * @param Job $job public, because Laravel asks a command for it
     */
    public function __construct(
        private readonly object $command,
        private readonly array $all,
        public readonly Job $job,
        private readonly Container $container,
    ) {
    }

    public static function inner(mixed $command): mixed
    {
        return $command instanceof self ? $command->command : $command;
    }

    /** @return list<Closure> */
    public function middleware(): array
    {
        $watched = array_map($this->watched(...), $this->all);

        return [fn (self $command, Closure $next): mixed => $this->through($watched, $this->command, $next)];
    }

    private function watched(mixed $middleware): Closure
    {
        return function (object $command, Closure $next) use ($middleware): mixed {
            $behind = fn (object $command): mixed => $this->job->behind(null, static fn (): mixed => $next($command));

            return $this->job->behind($middleware, fn (): mixed => $this->through([$middleware], $command, $behind));
        };
    }

    /** @param array<mixed> $middleware */
    private function through(array $middleware, object $command, Closure $next): mixed
    {
        return (new Pipeline($this->container))->send($command)->through($middleware)->then($next);
    }
}
