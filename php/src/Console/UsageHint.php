<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Internal\Nearest;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Exception\ExceptionInterface;
use Throwable;

/** An error of Symfony about options or arguments of a command, with what may be meant, or where to read on. */
final class UsageHint
{
    /** @return Throwable the error itself where it is about something else */
    public static function explain(Throwable $error, Command $command): Throwable
    {
        $message = rtrim($error->getMessage(), '.');
        $beginnings = '/^(The "-|Not enough arguments|Too many arguments|No arguments expected)/';
        $isUsage = preg_match($beginnings, $message) === 1;
        if (!$error instanceof ExceptionInterface || !$isUsage) {
            return $error;
        }
        $isUnknown = preg_match('/^The "--?([\w-]+)" option does not exist/', $message, $found) === 1;
        $names = $isUnknown ? Nearest::of($found[1], array_keys($command->getDefinition()->getOptions())) : [];
        $cure = $names === []
            ? "delayqueue {$command->getName()} --help " . ($isUnknown ? 'lists all' : 'says more')
            : 'did you mean --' . implode(' or --', $names) . '?';

        return new UsageException("$message; $cure", 0, $error);
    }
}
