<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class SchedulesCommand extends Command
{
    public function __construct()
    {
        parent::__construct('schedules');
    }

    protected function configure(): void
    {
        $this->setDescription('Lists the schedules, those that come next first')
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'How many schedules to list at most', '100')
            ->setHelp(<<<'TEXT'
                  delayqueue schedules
                  delayqueue schedules --limit=1000 --format=json --queue=schedules-of-shops

                --queue is the queue of schedules (default: schedules). To run them: delayqueue work --schedules.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $limit = Number::of($input->getOption('limit'), '--limit', 1);
        $queue = new ScheduleQueue($input);
        $queue->refuseUnknown();
        $schedules = [];
        foreach ($queue->schedules()->all() as $schedule) {
            if (count($schedules) === $limit) {
                break;
            }
            $schedules[] = $schedule;
        }
        if ($format === Format::JSON) {
            Format::json($output, array_map(ScheduleView::toArray(...), $schedules));
        } elseif ($schedules === []) {
            Format::note($output, "there are no schedules in queue {$queue->name()}");
        } else {
            Format::table($output, ['name', 'when', 'queue', 'next', 'last error'], array_map(ScheduleView::row(...), $schedules));
            $all = $queue->queue()->count();
            if (count($schedules) === $limit && $all > $limit) {
                Format::raw($output, number_format($limit) . ' of ' . number_format($all) . ': --limit lists more');
            }
        }

        return ExitCode::OK;
    }
}
