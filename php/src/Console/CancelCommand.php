<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class CancelCommand extends Command
{
    public function __construct()
    {
        parent::__construct('cancel');
    }

    protected function configure(): void
    {
        $this->setDescription('Removes jobs by their ids, by a search, or those of a group, and prints how many there were')
            ->addArgument('id', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Ids of jobs')
            ->addOption('group', null, InputOption::VALUE_REQUIRED, 'All delayed and ready jobs of this group')
            ->addOption('reserved', null, InputOption::VALUE_NONE, 'With --group: those that workers hold, too')
            ->setHelp(<<<'TEXT'
                  delayqueue cancel order-4711 order-4712 --queue=orders
                  delayqueue cancel --group=tenant-42 --queue=orders --force
                  delayqueue cancel --tag=tenant:42 --state=delayed --queue=orders --dry-run

                Buried jobs of a group stay: delayqueue cancel takes them by their ids.
                TEXT . "\n\n" . Application::EXIT_CODES);
        SearchOptions::describe($this);
        SearchOptions::describeStates($this, 'jobs in any state');
        Confirmation::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        [$ids, $group] = [$input->getArgument('id'), $input->getOption('group')];
        $isSearch = SearchOptions::areGiven($input);
        if (($ids !== []) + ($group !== null) + $isSearch !== 1) {
            throw new UsageException('give ids, or --group, or options of a search');
        }
        if ($group === null && $input->getOption('reserved')) {
            throw new UsageException('--reserved goes with --group: a job that is named is cancelled in any state');
        }
        $isSearch || SearchOptions::refuse($input);
        $target = new Target($input);
        if ($isSearch) {
            return self::cancelFound($target->existing(), $input, $output);
        }
        $cancelled = $group === null
            ? $target->queue()->cancel(...$ids)
            : self::cancelGroup($target->existing(), $group, $input, $output);
        $cancelled > 0 || $target->refuseUnknown($target->name());
        Format::raw($output, "$cancelled cancelled");

        return $cancelled > 0 ? ExitCode::OK : ExitCode::FAILED;
    }

    private static function cancelFound(DelayQueue $queue, InputInterface $input, OutputInterface $output): int
    {
        $states = SearchOptions::states($input);
        $search = SearchOptions::search($input, $queue, $states);
        $work = new BulkWork($input, $output, $queue, $states);
        $work->confirm($search);

        return $work->run($search, 'cancelled', $search->cancel(...)) > 0 ? ExitCode::OK : ExitCode::FAILED;
    }

    private static function cancelGroup(
        DelayQueue $queue,
        string $group,
        InputInterface $input,
        OutputInterface $output,
    ): int {
        $isReserved = $input->getOption('reserved');
        $stats = $queue->groupStats($group); // a name that is none is told before the question
        Confirmation::ask($input, $output, static function () use ($queue, $group, $isReserved, $stats): string {
            $number = $stats->waiting + ($isReserved ? $stats->reserved : 0);

            return "Delete $number jobs of group " . Text::printable($group) . " of queue {$queue->name()}";
        });

        return $queue->cancelGroup($group, $isReserved);
    }
}
