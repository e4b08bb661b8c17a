<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class ReceiptsCommand extends Command
{
    public function __construct()
    {
        parent::__construct('receipts');
    }

    protected function configure(): void
    {
        $this->setDescription('Lists the receipts of a queue, oldest first: what pushOnce() and load do not add again')
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'How many receipts to list at most', '100')
            ->setHelp(<<<'TEXT'
                  delayqueue receipts --queue=orders
                  delayqueue receipts --queue=orders --starting-with=outbox/ --older-than=30d --format=json
                TEXT . "\n\n" . Application::EXIT_CODES);
        Receipts::describe($this);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $limit = Number::of($input->getOption('limit'), '--limit', 1);
        $queue = (new Target($input))->existing();
        $receipts = Receipts::of($queue, $input, $limit);
        if ($format === Format::JSON) {
            Format::json($output, $receipts);
        } elseif ($receipts === []) {
            $which = Receipts::areChosen($input) ? ' that you look for' : '';
            Format::note($output, "there are no receipts$which in queue {$queue->name()}");
        } else {
            array_map(static fn (string $receipt) => Format::line($output, $receipt), $receipts);
        }

        return ExitCode::OK;
    }
}
