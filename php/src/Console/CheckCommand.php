<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Console\Check\Level;
use DelayQueue\Console\Check\Look;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;
use Throwable;

/** For Nagios and its like, and for probes: one line, and exit codes of their own. */
final class CheckCommand extends Command
{
    public function __construct()
    {
        parent::__construct('check');
    }

    public function run(InputInterface $input, OutputInterface $output): int
    {
        try {
            return parent::run($input, $output);
        } catch (Throwable $error) {
            if ($error instanceof StreamError && $error->isBrokenPipe()) {
                throw $error;
            }
            // Elsewhere wrong usage is 2, which Nagios takes for an alarm.
            Application::complain($output, UsageHint::explain($error, $this));

            return Level::Unknown->exitCode();
        }
    }

    protected function configure(): void
    {
        $this->setDescription('Compares the numbers of all queues, or of some, with limits')
            ->setHelp(<<<'TEXT'
                  delayqueue check --max-age=60s --max-buried=0
                  delayqueue check orders "mail-*" --warn-max-age=30s --max-age=5m --max-lateness-p99=5s --min-workers=1
                  delayqueue check --min-workers=1 --except=failed

                The command looks only at the numbers that have a limit, of each queue by itself, and prints one line. A paused queue has no age and no
                lateness, and the line names it. Blocked jobs of groups have no age, and while a queue has some, its lateness is not judged. Workers that
                are stopping do not count.

                <comment>Exit codes:</comment> those of Nagios, which differ from those of the other commands
                  0  no limit is passed
                  1  a limit of --warn-… is passed
                  2  another limit is passed, or Redis cannot be reached
                  3  wrong usage, or Redis refuses
                TEXT);
        Look::describe($this);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $look = new Look($input);
        $look->refuseUnknown();
        $report = $look->report();
        if ($format === Format::JSON) {
            Format::json($output, $report->toArray());
        } else {
            [$word, $rest] = explode(':', $report->line(), 2);
            Format::marked($output, $report->level->colour(), $word, ":$rest");
        }

        return $report->level->exitCode();
    }
}
