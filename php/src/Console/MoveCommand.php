<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\Search\Move;
use DelayQueue\Search\Search;
use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
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
            ->addArgument('id', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Ids of jobs')
            ->addOption('to', null, InputOption::VALUE_REQUIRED, 'The queue into which they move')
            ->setHelp(<<<'TEXT'
                  delayqueue move order-4711 --to=later --queue=orders
                  delayqueue move --state=buried --error=Timeout --to=later --queue=orders
                  delayqueue move --tag=tenant:42 --to=tenant-42 --dry-run --queue=orders

                A job is in the other queue before it leaves its own: after a move that was broken off some may be in both, until you repeat it.
                A job whose id is in the other queue stays, and so does a job of a chain or a batch.
                TEXT . "\n\n" . Application::EXIT_CODES);
        SearchOptions::describe($this);
        SearchOptions::describeStates($this, 'delayed, ready and buried ones');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $to = $input->getOption('to') ?? throw new UsageException('give --to=QUEUE');
        $ids = $input->getArgument('id');
        if (($ids !== []) === SearchOptions::areGiven($input)) {
            throw new UsageException('give ids, or options of a search; all jobs are --state=delayed --state=ready --state=buried');
        }
        $ids === [] || SearchOptions::refuse($input);
        $states = SearchOptions::states($input) ?: [State::Delayed, State::Ready, State::Buried];
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
        $moved = $ids === []
            ? (new BulkWork($input, $output, $queue, $states))->run(
                $search,
                'moved',
                static fn (callable $progress): int => $search->moveTo($there, $progress),
                static fn (callable $progress): int => self::count($search, new Move($queue, $there), $progress),
            )
            : self::moveNamed($queue, new Move($queue, $there), $ids, $output);

        return $moved > 0 ? ExitCode::OK : ExitCode::FAILED;
    }

    /** How many of them would move: one whose id is in the other queue stays. */
    private static function count(Search $search, Move $move, callable $progress): int
    {
        $movable = 0;
        foreach ($search as $job) {
            $movable += $move->wouldMove($job) ? 1 : 0;
            $progress($movable, $search->read());
        }

        return $movable;
    }

    /** @param list<string> $ids */
    private static function moveNamed(DelayQueue $queue, Move $move, array $ids, OutputInterface $output): int
    {
        $moved = 0;
        foreach (array_unique($ids) as $id) {
            $job = $queue->peek($id);
            $moved += $job !== null && $move->move($job) === true ? 1 : 0;
        }
        Format::raw($output, "$moved moved");

        return $moved;
    }
}
