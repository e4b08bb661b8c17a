<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class ForgetCommand extends Command
{
    public function __construct()
    {
        parent::__construct('forget');
    }

    protected function configure(): void
    {
        $this->setDescription('Takes queues that are empty and unused out of the list of queues, with their counters')
            ->addArgument('name', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Names of queues, as with --queue')
            ->setHelp(<<<'TEXT'
                  delayqueue purge --queue=orders
                  delayqueue forget orders

                A queue is in use, and stays, while it has jobs or receipts, an id is taken for some time, it or one of its groups is paused or has limits,
                or a worker waits for its jobs. A push makes it again.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $names = array_unique([...$input->getArgument('name'), ...$target->named()]) ?: $target->names();
        $target->refuseUnknown(...$names);
        $kept = [];
        foreach ($names as $name) {
            $target->openWithoutKeys($name)->forget() ? Format::raw($output, "$name is forgotten") : $kept[] = $name;
        }
        if ($kept !== []) {
            throw new NothingDone('in use, and not forgotten: ' . implode(', ', $kept) . ' (there are jobs or receipts, an id is taken, it or a group is paused or limited, or a worker waits for it)');
        }

        return ExitCode::OK;
    }
}
