<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue\Console\Application;
use DelayQueue\Console\Duration;
use DelayQueue\Console\ExitCode;
use DelayQueue\Console\Format;
use DelayQueue\Console\Number;
use DelayQueue\Console\Target;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\Console\Worker\StopSignal;
use DelayQueue\Database\Relay;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class OutboxRelayCommand extends Command
{
    public function __construct()
    {
        parent::__construct('outbox:relay');
    }

    protected function configure(): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $this->setDescription('Brings the rows of the outbox to Redis, until a signal ends it')
            ->addOption('once', null, InputOption::VALUE_NONE, 'End when no row is left that is old enough, and print how many were moved: for cron')
            ->addOption('after', null, $value, 'How long a row is left to the flush() of its own request', RelayRun::AFTER . 's')
            ->addOption('batch', null, $value, 'Rows of one transaction', (string) RelayRun::BATCH)
            ->addOption('time-limit', null, $value, 'End after this time: seconds, 1h, PT1H')
            ->setHelp(<<<'TEXT'
                  delayqueue outbox:relay --database="pgsql:host=localhost;dbname=shop"

                Any number of them may run. After SIGTERM, SIGINT, SIGQUIT or SIGHUP it finishes the batch in hand and ends. A row that Redis
                does not take stays, and is tried again. "delayqueue work --relay" runs one beside the workers.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Database::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        (new Target($input))->refuseNames('a relay brings the rows of all queues');
        $limit = Duration::orNull($input->getOption('time-limit'), '--time-limit');
        $batch = Number::of($input->getOption('batch'), '--batch', 1, Relay::LARGEST_BATCH);
        $after = Duration::of($input->getOption('after'), '--after');
        $notices = new Notices($output, false);
        $relay = new RelayRun($input, $notices);
        $signal = new StopSignal(defined('SIGTERM') ? [SIGTERM, SIGINT, SIGQUIT, SIGHUP] : []);
        $end = $limit === null ? null : hrtime(true) + (int) ($limit * 1e9);
        $stop = static fn (): bool => $signal->hasCome() || ($end !== null && hrtime(true) >= $end);
        if ($input->getOption('once')) {
            return $relay->once($after, $batch, $stop, static fn (int $moved) => Format::raw($output, "$moved moved"));
        }
        $name = 'relay (process ' . getmypid() . ')';
        $relay->run($after, $batch, $stop, static fn (string $place) => $notices->say('ready', "$name is ready: $place"));
        $notices->say('stopped', "$name stopped");

        return ExitCode::OK;
    }
}
