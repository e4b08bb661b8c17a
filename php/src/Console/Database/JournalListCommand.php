<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue\Console\Application;
use DelayQueue\Console\ExitCode;
use DelayQueue\Console\Format;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class JournalListCommand extends Command
{
    public function __construct()
    {
        parent::__construct('journal:list');
    }

    protected function configure(): void
    {
        $this->setDescription('Lists the jobs of the journal, of which it has heard last first')
            ->setHelp("  delayqueue journal:list --state=failed --since=2h --queue=orders\n\nWithout --queue it lists those of all queues.\n\n" . Application::EXIT_CODES);
        Jobs::describe($this);
        Database::describe($this);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        JournalView::print($output, $format, Jobs::of($input));

        return ExitCode::OK;
    }
}
