<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue\Console\Application;
use DelayQueue\Console\ExitCode;
use DelayQueue\Console\Format;
use DelayQueue\Console\UsageException;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class JournalSearchCommand extends Command
{
    public function __construct()
    {
        parent::__construct('journal:search');
    }

    protected function configure(): void
    {
        $this->setDescription('Lists the jobs of the journal whose error or payload contains a text')
            ->addOption('contains', null, InputOption::VALUE_REQUIRED, 'This text, byte for byte')
            ->setHelp(<<<'TEXT'
                  delayqueue journal:search --contains='no money' --queue=orders

                It reads the whole table. Payloads are searched where they were kept: see --journal-payloads of work. Exit code 1: there is none.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Jobs::describe($this);
        Database::describe($this);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $contains = (string) $input->getOption('contains');
        if ($contains === '') {
            throw new UsageException('what to search? Give --contains');
        }
        $jobs = Jobs::of($input, $contains);
        JournalView::print($output, $format, $jobs);

        return $jobs === [] ? ExitCode::FAILED : ExitCode::OK;
    }
}
