<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Exception\ExceptionInterface;
use Throwable;

/** An option that the command does not have: the error names those that may be meant. */
final class UnknownOption
{
    /** @return Throwable the error itself where it is about something else */
    public static function explain(Throwable $error, Command $command): Throwable
    {
        if (!$error instanceof ExceptionInterface || preg_match('/^The "--?([\w-]+)" option does not exist/', $error->getMessage(), $found) !== 1) {
            return $error;
        }
        $names = Nearest::of($found[1], array_keys($command->getDefinition()->getOptions()));
        $cure = $names === [] ? "delayqueue {$command->getName()} --help lists all" : 'did you mean --' . implode(' or --', $names) . '?';

        return new UsageException(rtrim($error->getMessage(), '.') . "; $cure", 0, $error);
    }
}
