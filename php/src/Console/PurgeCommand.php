<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\State;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Helper\QuestionHelper;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;
use Symfony\Component\Console\Question\ConfirmationQuestion;

final class PurgeCommand extends Command
{
    public function __construct()
    {
        parent::__construct('purge');
    }

    protected function configure(): void
    {
        $this->setDescription('Deletes all jobs of some states, or all jobs')
            ->addArgument('state', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'delayed, ready, reserved, buried; none: all of them')
            ->addOption('force', null, InputOption::VALUE_NONE, 'Do not ask; needed where there is no terminal to ask on')
            ->setHelp("  delayqueue purge buried --queue=orders --force\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $states = array_map(States::of(...), $input->getArgument('state'));
        $target = new Target($input);
        $queue = $target->queue();
        $target->refuseUnknown($queue->name());
        if (!$input->getOption('force')) {
            if (!$input->isInteractive() || !stream_isatty(STDIN)) {
                throw new UsageException('there is no terminal to ask on: --force deletes without asking');
            }
            $number = array_sum(array_map($queue->count(...), $states ?: State::cases()));
            $which = $states === [] ? '' : implode(' and ', array_column($states, 'value')) . ' ';
            $question = new ConfirmationQuestion("Delete $number {$which}jobs of queue {$queue->name()}? [y/N] ", false);
            if (!(new QuestionHelper())->ask($input, $output, $question)) {
                throw new NothingDone('nothing was deleted');
            }
        }
        Format::raw($output, $queue->purge(...$states) . ' deleted');

        return ExitCode::OK;
    }
}
