<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class CancelCommand extends Command
{
    public function __construct()
    {
        parent::__construct('cancel');
    }

    protected function configure(): void
    {
        $this->setDescription('Removes jobs in any state and prints how many there were')
            ->addArgument('id', InputArgument::REQUIRED | InputArgument::IS_ARRAY, 'Ids of jobs')
            ->setHelp("  delayqueue cancel order-4711 order-4712 --queue=orders\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $cancelled = (new Target($input))->queue()->cancel(...$input->getArgument('id'));
        Format::raw($output, "$cancelled cancelled");

        return $cancelled > 0 ? ExitCode::OK : ExitCode::FAILED;
    }
}
