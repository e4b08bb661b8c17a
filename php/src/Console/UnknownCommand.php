<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Exception\CommandNotFoundException;

/** A command that is not there: the error names those that may be meant. */
final class UnknownCommand
{
    /** Words of other queues, and what is called so here. */
    private const OTHERS = [
        'retry' => 'kick', 'requeue' => 'kick', 'release' => 'kick', 'replay' => 'kick', 'unbury' => 'kick',
        'failed' => 'list buried', 'dead' => 'list buried', 'dlq' => 'list buried', 'errors' => 'list buried', 'buried' => 'list buried',
        'jobs' => 'list', 'ls' => 'list', 'peek' => 'list', 'delayed' => 'list delayed', 'ready' => 'list ready', 'reserved' => 'list reserved',
        'queues' => 'stats', 'queue' => 'stats', 'info' => 'stats', 'status' => 'stats', 'count' => 'stats', 'size' => 'stats', 'monitor' => 'stats --watch',
        'delete' => 'cancel', 'remove' => 'cancel', 'rm' => 'cancel', 'del' => 'cancel',
        'clear' => 'purge', 'flush' => 'purge', 'empty' => 'purge', 'prune' => 'purge',
        'add' => 'push', 'enqueue' => 'push', 'dispatch' => 'push', 'put' => 'push', 'publish' => 'push', 'send' => 'push',
        'run' => 'work', 'worker' => 'work', 'consume' => 'work', 'process' => 'work', 'listen' => 'work', 'start' => 'work',
        'get' => 'show', 'job' => 'show', 'inspect' => 'show', 'describe' => 'show',
        'unpause' => 'resume', 'continue' => 'resume', 'stop' => 'workers:stop', 'restart' => 'workers:restart',
        'delay' => 'reschedule', 'edit' => 'update', 'export' => 'dump', 'backup' => 'dump', 'import' => 'load', 'restore' => 'load',
        'health' => 'check', 'ping' => 'doctor', 'throttle' => 'rate-limit', 'limits' => 'limit', 'ui' => 'dashboard', 'web' => 'dashboard',
        'prometheus' => 'metrics', 'cron' => 'schedules', 'schedule' => 'schedules', 'relay' => 'outbox:relay', 'journal' => 'journal:list',
    ];

    public static function explain(CommandNotFoundException $error, string $name): CommandNotFoundException
    {
        $meant = self::OTHERS[strtolower($name)] ?? null;
        $names = $meant === null ? $error->getAlternatives() : [$meant];
        $message = match (true) {
            $meant !== null => "Command \"$name\" is not defined. Did you mean this? $meant",
            $names === [] => "{$error->getMessage()} delayqueue alone lists all",
            // Symfony's own words have the descriptions of the commands, too.
            str_contains($error->getMessage(), 'is ambiguous') => "Command \"$name\" is ambiguous: " . implode(', ', $names),
            default => $error->getMessage(),
        };

        return new CommandNotFoundException($message, $names, 0, $error);
    }
}
