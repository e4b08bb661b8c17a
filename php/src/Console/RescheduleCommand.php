<?php

declare(strict_types=1);

namespace DelayQueue\Console;

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
        $this->setDescription('Moves a delayed, ready or buried job to a new time')
            ->addArgument('id', InputArgument::REQUIRED, 'The id of the job')
            ->addArgument('delay', InputArgument::OPTIONAL, 'Due after this: seconds, 500ms, 15m, 2h30m, PT15M')
            ->setHelp("  delayqueue reschedule order-4711 1h --queue=orders\n\n" . Application::EXIT_CODES);
        Moment::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $id = $input->getArgument('id');
        if (!$target->queue()->reschedule($id, Moment::of($input, $input->getArgument('delay')))) {
            throw new NothingDone("there is no job $id in queue {$target->names()[0]}, or a worker holds it");
        }

        return ExitCode::OK;
    }
}
