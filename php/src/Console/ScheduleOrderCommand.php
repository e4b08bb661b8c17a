<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Schedule\Schedules;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

/** schedules:pause, schedules:resume, schedules:run, schedules:remove. */
final class ScheduleOrderCommand extends Command
{
    public function __construct(private readonly ScheduleOrder $order)
    {
        parent::__construct("schedules:$order->value");
    }

    protected function configure(): void
    {
        $this->setDescription($this->order->description())
            ->addArgument('name', InputArgument::REQUIRED | InputArgument::IS_ARRAY, 'The names of the schedules')
            ->setHelp("  delayqueue {$this->getName()} invoices\n\n" . Application::EXIT_CODES);
        if ($this->order === ScheduleOrder::Pause) {
            $help = 'End the pause after this: seconds, 15m, PT15M (default: when schedules:resume ends it)';
            $this->addOption('for', null, InputOption::VALUE_REQUIRED, $help);
        }
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $for = $this->order === ScheduleOrder::Pause ? Duration::orNull($input->getOption('for'), '--for') : null;
        $queue = new ScheduleQueue($input);
        $schedules = $queue->schedules();
        $missing = [];
        foreach ($input->getArgument('name') as $name) {
            $done = $this->do($schedules, $name, $for);
            if (is_string($done)) {
                Format::raw($output, $done);
            } elseif ($done === true) {
                $length = $for === null ? '' : ' for ' . Text::length($for);
                Format::line($output, "$name: {$this->order->done()}$length");
            } else {
                $missing[] = $name;
            }
        }
        if ($missing !== []) {
            $queue->refuse(implode(', ', $missing), $this->order === ScheduleOrder::Resume ? ', or it is not paused' : '');
        }

        return ExitCode::OK;
    }

    private function do(Schedules $schedules, string $name, ?float $for): string|bool|null
    {
        return match ($this->order) {
            ScheduleOrder::Pause => $schedules->pause($name, $for),
            ScheduleOrder::Resume => $schedules->resume($name),
            ScheduleOrder::Run => $schedules->runNow($name),
            ScheduleOrder::Remove => $schedules->remove($name),
        };
    }
}
