<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Exception\CommandNotFoundException;

/** A command that is not there: the error names those that may be meant. */
final class UnknownCommand
{
    /** Words of other queues, by the commands that do so here. */
    private const OTHERS = [
        'kick' => ['retry', 'requeue', 'release', 'replay', 'unbury'],
        'list buried' => ['failed', 'dead', 'dlq', 'errors', 'buried'],
        'list' => ['jobs', 'ls', 'peek'],
        'list delayed' => ['delayed'],
        'list ready' => ['ready'],
        'list reserved' => ['reserved'],
        'stats' => ['queues', 'queue', 'info', 'status', 'count', 'size'],
        'stats --watch' => ['monitor'],
        'cancel' => ['delete', 'remove', 'rm', 'del'],
        'purge' => ['clear', 'flush', 'empty', 'prune'],
        'push' => ['add', 'enqueue', 'dispatch', 'put', 'publish', 'send'],
        'work' => ['run', 'worker', 'consume', 'process', 'listen', 'start'],
        'show' => ['get', 'job', 'inspect', 'describe'],
        'resume' => ['unpause', 'continue'],
        'workers:stop' => ['stop'],
        'workers:restart' => ['restart'],
        'reschedule' => ['delay'],
        'update' => ['edit'],
        'dump' => ['export', 'backup'],
        'load' => ['import', 'restore'],
        'check' => ['health'],
        'doctor' => ['ping'],
        'rate-limit' => ['throttle'],
        'limit' => ['limits'],
        'dashboard' => ['ui', 'web'],
        'metrics' => ['prometheus'],
        'schedules' => ['cron', 'schedule'],
        'outbox:relay' => ['relay'],
        'journal:list' => ['journal'],
    ];

    public static function explain(CommandNotFoundException $error, string $name): CommandNotFoundException
    {
        $meant = null;
        foreach (self::OTHERS as $command => $words) {
            $meant ??= in_array(strtolower($name), $words, true) ? $command : null;
        }
        $names = $meant === null ? $error->getAlternatives() : [$meant];
        $message = match (true) {
            $meant !== null => "Command \"$name\" is not defined. Did you mean this? $meant",
            $names === [] => "{$error->getMessage()} delayqueue alone lists all",
            // Symfony's own words have the descriptions of the commands, too.
            str_contains($error->getMessage(), 'is ambiguous')
                => "Command \"$name\" is ambiguous: " . implode(', ', $names),
            default => $error->getMessage(),
        };

        return new CommandNotFoundException($message, $names, 0, $error);
    }
}
