<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class PurgeCommand extends Command
{
    public function __construct()
    {
        parent::__construct('purge');
    }

    protected function configure(): void
    {
        $this->setDescription('Deletes all jobs of some states, or all jobs, or those that a search finds')
            ->addArgument('state', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'delayed, ready, reserved, buried; none: all of them')
            ->setHelp(<<<'TEXT'
                  delayqueue purge buried --queue=orders --force
                  delayqueue purge buried --error=Timeout --since=2d --queue=orders --dry-run
                TEXT . "\n\n" . Application::EXIT_CODES);
        $this->addOption('limit', null, InputOption::VALUE_REQUIRED, 'With a search: at most so many of the jobs that are found');
        SearchOptions::describe($this);
        Confirmation::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $states = array_map(States::of(...), $input->getArgument('state'));
        $target = new Target($input);
        $queue = $target->queue();
        $isSearch = SearchOptions::areGiven($input) || $input->getOption('dry-run');
        if (!$isSearch && $input->getOption('limit') !== null) {
            throw new UsageException('--limit goes with a search');
        }
        $search = $isSearch ? SearchOptions::search($input, $queue, $states) : null;
        $target->refuseUnknown($queue->name());
        if ($search !== null) {
            $work = new BulkWork($input, $output, $queue, $states);
            $work->confirm($search);
            $work->run($search, 'deleted', $search->cancel(...));

            return ExitCode::OK;
        }
        Confirmation::ask($input, $output, static function () use ($queue, $states): string {
            $number = array_sum(array_map($queue->count(...), $states ?: State::cases()));
            $which = $states === [] ? '' : implode(' and ', array_column($states, 'value')) . ' ';

            return "Delete $number {$which}jobs of queue {$queue->name()}";
        });
        Format::raw($output, $queue->purge(...$states) . ' deleted');

        return ExitCode::OK;
    }
}
