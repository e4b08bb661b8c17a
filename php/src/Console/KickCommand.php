<?php

declare(strict_types=1);

namespace DelayQueue\Console;

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
            ->setHelp("  delayqueue kick --max=100 --queue=orders\n  delayqueue kick order-4711 --queue=orders\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $queue = (new Target($input))->queue();
        $ids = $input->getArgument('id');
        $max = Number::orNull($input->getOption('max'), '--max', 1);
        $reset = !$input->getOption('keep-attempts');
        if (($ids === []) === ($max === null)) {
            throw new UsageException('give ids, or --max=N for the N oldest');
        }
        $kicked = $max !== null
            ? $queue->kick($max, $reset)
            : count(array_filter($ids, static fn (string $id): bool => $queue->kickJob($id, $reset)));
        Format::raw($output, "$kicked kicked");

        return $kicked > 0 ? ExitCode::OK : ExitCode::FAILED;
    }
}
