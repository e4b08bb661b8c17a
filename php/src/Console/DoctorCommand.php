<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class DoctorCommand extends Command
{
    private const COLOURS = ['ok' => 'green', 'warn' => 'yellow', 'error' => 'red'];

    public function __construct()
    {
        parent::__construct('doctor');
    }

    protected function configure(): void
    {
        $this->setDescription('Tells what about this Redis endangers jobs, and the cure')
            ->addOption('repair', null, InputOption::VALUE_NONE, 'Repair what can be repaired in the queue, then print what was found')
            ->setHelp("  delayqueue doctor\n  delayqueue doctor --repair --queue=orders\n\n" . Application::EXIT_CODES . "\n\n  The exit code is 1 if there is a finding of level error; with warnings alone it is 0.");
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $target = new Target($input);
        // Where nobody names a queue, it is about the server, which may have none yet.
        $queue = $target->named() === [] ? $target->queue() : $target->existing();
        $findings = $queue->doctor(repair: $input->getOption('repair'));
        if ($format === Format::JSON) {
            Format::json($output, $findings);
        } else {
            foreach ($findings as ['level' => $level, 'check' => $check, 'message' => $message]) {
                Format::marked($output, self::COLOURS[$level] ?? 'default', sprintf('%-5s', $level), " $check: $message");
            }
        }

        return in_array('error', array_column($findings, 'level'), true) ? ExitCode::FAILED : ExitCode::OK;
    }
}
