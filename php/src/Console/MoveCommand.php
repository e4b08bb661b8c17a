<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class MoveCommand extends Command
{
    public function __construct()
    {
        parent::__construct('move');
    }

    protected function configure(): void
    {
        $this->setDescription('Moves jobs that no worker holds into another queue, with their past')
            ->addOption('to', null, InputOption::VALUE_REQUIRED, 'The queue into which they move')
            ->setHelp(<<<'TEXT'
                  delayqueue move --state=buried --error=Timeout --to=later --queue=orders
                  delayqueue move --tag=tenant:42 --to=tenant-42 --dry-run --queue=orders

                A job is in the other queue before it leaves its own: after a move that was broken off some may be in both, until you repeat it.
                A job whose id is in the other queue stays.
                TEXT . "\n\n" . Application::EXIT_CODES);
        SearchOptions::describe($this);
        SearchOptions::describeStates($this, 'delayed, ready and buried ones');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $to = $input->getOption('to') ?? throw new UsageException('give --to=QUEUE');
        $states = SearchOptions::states($input);
        if (in_array(State::Reserved, $states, true)) {
            throw new UsageException('reserved jobs have their workers, and cannot be moved');
        }
        $target = new Target($input);
        $queue = $target->queue();
        if ($to === $queue->name()) {
            throw new UsageException("the jobs are in queue $to");
        }
        $search = SearchOptions::search($input, $queue, $states);
        $there = $target->open($to);
        $target->refuseUnknown($queue->name());
        $move = static fn (callable $progress): int => $search->moveTo($there, $progress);
        $moved = (new BulkWork($input, $output, $queue, $states))->run($search, 'moved', $move);

        return $moved > 0 ? ExitCode::OK : ExitCode::FAILED;
    }
}
