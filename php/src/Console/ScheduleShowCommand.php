<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class ScheduleShowCommand extends Command
{
    public function __construct()
    {
        parent::__construct('schedules:show');
    }

    protected function configure(): void
    {
        $this->setDescription('Shows everything about one schedule, and its next moments')
            ->addArgument('name', InputArgument::REQUIRED, 'The name of the schedule')
            ->setHelp("  delayqueue schedules:show invoices\n\n" . Application::EXIT_CODES);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $queue = new ScheduleQueue($input);
        $name = $input->getArgument('name');
        $schedule = $queue->schedules()->get($name) ?? $queue->refuse($name);
        if ($format === Format::JSON) {
            Format::json($output, ScheduleView::toArray($schedule));
        } else {
            foreach (ScheduleView::toText($schedule) as [$label, $text]) {
                Format::line($output, sprintf('%-12s %s', $label, $text));
            }
        }

        return ExitCode::OK;
    }
}
