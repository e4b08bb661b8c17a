<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** Which receipts of a queue a command is about. The option --prefix is that of all keys. */
final class Receipts
{
    public static function describe(Command $command): void
    {
        $command->addOption('starting-with', null, InputOption::VALUE_REQUIRED, 'Receipts with this beginning, such as load/')
            ->addOption('older-than', null, InputOption::VALUE_REQUIRED, 'Receipts that were given so long ago: 30d, 12h');
    }

    public static function areChosen(InputInterface $input): bool
    {
        return $input->getOption('starting-with') !== null || $input->getOption('older-than') !== null;
    }

    /** @return list<string> oldest first */
    public static function of(DelayQueue $queue, InputInterface $input, int $limit = PHP_INT_MAX): array
    {
        return $queue->receipts($input->getOption('older-than') ?? 0, $input->getOption('starting-with') ?? '', $limit);
    }
}
