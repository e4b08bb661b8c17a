<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class ScheduleSetCommand extends Command
{
    public function __construct()
    {
        parent::__construct('schedules:set');
    }

    protected function configure(): void
    {
        $this->setDescription('Sets the schedules of a file; those that have not changed go on as they are')
            ->addArgument('file', InputArgument::REQUIRED, 'A PHP file that returns definitions by their names, or JSON in a file that ends in .json')
            ->addOption('prune', null, InputOption::VALUE_NONE, 'Remove the schedules of the queue that are not in the file')
            ->setHelp(<<<'TEXT'
                  delayqueue schedules:set schedules.json --prune

                  {
                    "invoices": {"cron": "0 9 * * MON-FRI", "zone": "Europe/Berlin", "queue": "invoices", "overlap": "skip"},
                    "poll": {"every": "90s", "queue": "polls", "payload": {"shop": 7}}
                  }

                Other keys are those of Schedules::set(): payload, overlap, catchUp, jitter, until; and the options of its jobs by the names that
                NewJob has: ttr, maxAttempts, group … Nothing is stored if one of the definitions is wrong. One whose until is over is
                no mistake: it is told as ended, and is not there any more.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $queue = new ScheduleQueue($input);
        $schedules = $queue->schedules();
        $done = ['set' => [], 'unchanged' => [], 'removed' => [], 'ended' => []];
        $definitions = ScheduleFile::read($input->getArgument('file'), $schedules);
        if ($definitions === [] && $input->getOption('prune')) {
            throw new UsageException('the file has no schedules, and --prune would remove all of them');
        }
        foreach ($definitions as $name => $definition) {
            if ($definition === null) {
                // A runner removes it after its last moment, where that is still to come or to be caught up.
                $isEnding = $schedules->get((string) $name)?->isEnding($queue->queue()->now()) === true;
                $isEnding || $schedules->remove((string) $name);
                $done['ended'][] = (string) $name;
                continue;
            }
            $done[$schedules->store((string) $name, $definition) ? 'set' : 'unchanged'][] = (string) $name;
        }
        if ($input->getOption('prune')) {
            foreach ($schedules->all() as $name => $schedule) {
                if (!array_key_exists($name, $definitions) && $schedules->remove((string) $name)) {
                    $done['removed'][] = (string) $name;
                }
            }
        }
        if ($format === Format::JSON) {
            Format::json($output, $done);
        } else {
            foreach ($done as $what => $names) {
                foreach ($what === 'unchanged' ? [] : $names as $name) {
                    Format::line($output, "$what $name");
                }
            }
            Format::raw($output, count($done['set']) . ' set, ' . count($done['unchanged']) . ' unchanged, ' . count($done['removed']) . ' removed'
                . ($done['ended'] === [] ? '' : ', ' . count($done['ended']) . ' ended'));
        }

        return ExitCode::OK;
    }
}
