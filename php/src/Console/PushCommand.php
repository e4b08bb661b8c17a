<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\NewJob;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class PushCommand extends Command
{
    public function __construct()
    {
        parent::__construct('push');
    }

    protected function configure(): void
    {
        $this->setDescription('Adds a job and prints its id')
            ->setHelp(<<<'TEXT'
                  delayqueue push '{"order": 4711}' --queue=orders --delay=15m --id=order-4711
                  delayqueue push '{"order": 4711}' --header='tenant: acme' --header='traceparent: 00-4bf9…-01'
                  delayqueue push '{"order": 4711}' --group=tenant-42 --queue=orders
                  generate-report | delayqueue push - --raw --at='tomorrow 3:00'
                TEXT . "\n\n" . Application::EXIT_CODES . "\n\n  1 is also for an id that is taken with --on-duplicate=fail.");
        PayloadInput::describe($this);
        JobOptions::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $payload = PayloadInput::read($input, $output);
        $job = new NewJob($payload, ...JobOptions::of($input));
        // The bytes go in as they are: decoding and encoding again would turn {} into [] and round numbers.
        Format::raw($output, (new Target($input))->queue(['format' => 'raw'])->pushMany([$job])[0]);

        return ExitCode::OK;
    }
}
