<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\Database\Journal;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** The options with which a worker writes the journal. */
final class JournalOption
{
    public static function describe(Command $command): void
    {
        $command
            ->addOption('journal', null, InputOption::VALUE_NONE, 'Write what becomes of each job to the journal in --database')
            ->addOption('journal-payloads', null, InputOption::VALUE_NONE, 'With their payloads, for journal:search and journal:rebuild');
    }

    public static function watch(DelayQueue $queue, InputInterface $input, Notices $notices): void
    {
        $payloads = $input->getOption('journal-payloads');
        if (!$payloads && !$input->getOption('journal')) {
            return;
        }
        $failures = new FailureLog($notices, 'journalFailed');
        $database = (new Database($input))->connection();
        (new Journal($database, payloads: $payloads, report: $failures->add(...)))->watch($queue);
    }
}
