<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class KickCommand extends Command
{
    /** So many are kicked without a question. */
    private const MANY = 1000;

    public function __construct()
    {
        parent::__construct('kick');
    }

    protected function configure(): void
    {
        $this->setDescription('Makes all buried jobs ready again, or those that are named, also delayed ones')
            ->addArgument('id', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Ids of buried or delayed jobs; none, and no search: all buried jobs')
            ->addOption('max', null, InputOption::VALUE_REQUIRED, 'Up to this many buried jobs, the oldest first')
            ->addOption('keep-attempts', null, InputOption::VALUE_NONE, 'Keep counting attempts; without this option they begin at 0')
            ->addOption('spread', null, InputOption::VALUE_REQUIRED, 'Buried jobs of a search, or all: they come back evenly over so long, with their attempts')
            ->setHelp(<<<'TEXT'
                  delayqueue kick --queue=orders
                  delayqueue kick --max=100 --queue=orders
                  delayqueue kick order-4711 --queue=orders
                  delayqueue kick --error=Timeout --spread=10m --queue=orders

                It asks before it kicks all of more than 1000 buried jobs. A search is about buried jobs, unless --state names another state.
                TEXT . "\n\n" . Application::EXIT_CODES);
        SearchOptions::describe($this);
        SearchOptions::describeStates($this, 'buried ones');
        Confirmation::describe($this, 'yes');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $ids = $input->getArgument('id');
        $max = Number::orNull($input->getOption('max'), '--max', 1);
        $reset = !$input->getOption('keep-attempts');
        $isSearch = SearchOptions::areGiven($input) || $input->getOption('spread') !== null;
        if (($ids !== []) + ($max !== null) + $isSearch > 1) {
            throw new UsageException('give ids, or --max=N for the N oldest, or options of a search; none of them kicks all that are buried');
        }
        $isSearch || SearchOptions::refuse($input);
        $target = new Target($input);
        if ($isSearch) {
            return self::kickFound($target->existing(), $input, $output);
        }
        $queue = $target->queue();
        $ids === [] && $max === null && self::askForAll($queue, $input, $output);
        $kicked = $ids === []
            ? $queue->kick($max, $reset)
            : count(array_filter($ids, static fn (string $id): bool => $queue->kickJob($id, $reset)));
        $kicked > 0 || $target->refuseUnknown($queue->name());
        Format::raw($output, "$kicked kicked");

        return $kicked > 0 ? ExitCode::OK : ExitCode::FAILED;
    }

    private static function askForAll(DelayQueue $queue, InputInterface $input, OutputInterface $output): void
    {
        $buried = $queue->count(State::Buried);
        if ($buried > self::MANY) {
            Confirmation::ask($input, $output, static fn (): string => "Kick all $buried buried jobs of queue {$queue->name()}", ['yes', 'kicks', 'kicked']);
        }
    }

    private static function kickFound(DelayQueue $queue, InputInterface $input, OutputInterface $output): int
    {
        $states = SearchOptions::states($input) ?: [State::Buried];
        $spread = $input->getOption('spread');
        if ($spread !== null && Duration::of($spread, '--spread') <= 0) {
            throw new UsageException('--spread must be longer than nothing');
        }
        if (array_diff(array_column($states, 'value'), $spread === null ? ['buried', 'delayed'] : ['buried']) !== []) {
            throw new UsageException($spread === null ? 'only buried and delayed jobs are kicked' : '--spread is for buried jobs');
        }
        $search = SearchOptions::search($input, $queue, $states);
        $kick = static fn (callable $progress): int => $search->kick($spread, !$input->getOption('keep-attempts'), $progress);

        return (new BulkWork($input, $output, $queue, $states))->run($search, 'kicked', $kick) > 0 ? ExitCode::OK : ExitCode::FAILED;
    }
}
