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
    public function __construct()
    {
        parent::__construct('kick');
    }

    protected function configure(): void
    {
        $this->setDescription('Makes buried jobs ready again, and delayed ones if they are named')
            ->addArgument('id', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Ids of buried or delayed jobs')
            ->addOption('max', null, InputOption::VALUE_REQUIRED, 'Instead of ids: up to this many buried jobs, the oldest first')
            ->addOption('keep-attempts', null, InputOption::VALUE_NONE, 'Keep counting attempts; without this option they begin at 0')
            ->addOption('spread', null, InputOption::VALUE_REQUIRED, 'Buried jobs of a search, or all: they come back evenly over so long, with their attempts')
            ->setHelp(<<<'TEXT'
                  delayqueue kick --max=100 --queue=orders
                  delayqueue kick order-4711 --queue=orders
                  delayqueue kick --error=Timeout --spread=10m --queue=orders

                A search is about buried jobs, unless --state names another state.
                TEXT . "\n\n" . Application::EXIT_CODES);
        SearchOptions::describe($this);
        SearchOptions::describeStates($this, 'buried ones');
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $ids = $input->getArgument('id');
        $max = Number::orNull($input->getOption('max'), '--max', 1);
        $reset = !$input->getOption('keep-attempts');
        $isSearch = SearchOptions::areGiven($input) || $input->getOption('spread') !== null;
        if (($ids !== []) + ($max !== null) + $isSearch !== 1) {
            throw new UsageException('give ids, or --max=N for the N oldest, or options of a search');
        }
        $isSearch || SearchOptions::refuse($input);
        $target = new Target($input);
        if ($isSearch) {
            return self::kickFound($target->existing(), $input, $output);
        }
        $queue = $target->queue();
        $kicked = $max !== null
            ? $queue->kick($max, $reset)
            : count(array_filter($ids, static fn (string $id): bool => $queue->kickJob($id, $reset)));
        $kicked > 0 || $target->refuseUnknown($queue->name());
        Format::raw($output, "$kicked kicked");

        return $kicked > 0 ? ExitCode::OK : ExitCode::FAILED;
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
