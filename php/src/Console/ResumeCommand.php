<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class ResumeCommand extends Command
{
    public function __construct()
    {
        parent::__construct('resume');
    }

    protected function configure(): void
    {
        $this->setDescription('Ends a pause: workers get jobs again')
            ->addOption('group', null, InputOption::VALUE_REQUIRED, 'Only this group, also where rate-limit has closed it')
            ->setHelp("  delayqueue resume --queue=orders\n  delayqueue resume --group=tenant-42 --queue=orders\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $group = $input->getOption('group');
        $target->refuseUnknown(...$target->names());
        foreach ($target->names() as $name) {
            $queue = $target->open($name);
            $done = PauseCommand::isPaused($queue, $group) === false ? 'was not paused' : 'resumed';
            $queue->resume($group);
            Format::line($output, PauseCommand::name($name, $group) . ": $done");
        }

        return ExitCode::OK;
    }
}
