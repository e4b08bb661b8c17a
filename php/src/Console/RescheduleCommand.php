<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class RescheduleCommand extends Command
{
    public function __construct()
    {
        parent::__construct('reschedule');
    }

    protected function configure(): void
    {
        $this->setDescription('Moves a delayed, ready or buried job, or those that a search finds, to a new time')
            ->addArgument('id', InputArgument::OPTIONAL, 'The id of the job; with a search the delay')
            ->addArgument('delay', InputArgument::OPTIONAL, 'Due after this: seconds, 500ms, 15m, 2h30m, PT15M')
            ->setHelp(<<<'TEXT'
                  delayqueue reschedule order-4711 1h --queue=orders
                  delayqueue reschedule 1h --tag=tenant:42 --queue=orders
                TEXT . "\n\n" . Application::EXIT_CODES);
        Moment::describe($this);
        SearchOptions::describe($this);
        SearchOptions::describeStates($this, 'delayed, ready and buried ones');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $id = $input->getArgument('id');
        if (SearchOptions::areGiven($input)) {
            return self::rescheduleFound($input, $output);
        }
        SearchOptions::refuse($input);
        $id === null && throw new UsageException('give the id of a job, or options of a search');
        $target = new Target($input);
        $queue = $target->queue();
        if (!$queue->reschedule($id, Moment::of($input, $input->getArgument('delay')))) {
            $target->refuseUnknown($queue->name());
            throw new NothingDone("there is no job $id in queue {$queue->name()}, or a worker holds it");
        }
        Format::note($output, "job $id is rescheduled");

        return ExitCode::OK;
    }

    private static function rescheduleFound(InputInterface $input, OutputInterface $output): int
    {
        if ($input->getArgument('delay') !== null) {
            throw new UsageException('with a search give the delay alone, and no id');
        }
        $delay = Moment::of($input, $input->getArgument('id'));
        is_string($delay) && Duration::of($delay, 'the delay');
        $states = SearchOptions::states($input) ?: [State::Delayed, State::Ready, State::Buried];
        if (in_array(State::Reserved, $states, true)) {
            throw new UsageException('reserved jobs have their workers, and cannot be moved to a new time');
        }
        $queue = (new Target($input))->existing();
        $search = SearchOptions::search($input, $queue, $states);
        $reschedule = static fn (callable $progress): int => $search->reschedule($delay, $progress);

        return (new BulkWork($input, $output, $queue, $states))->run($search, 'rescheduled', $reschedule) > 0 ? ExitCode::OK : ExitCode::FAILED;
    }
}
