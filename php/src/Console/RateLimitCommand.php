<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class RateLimitCommand extends Command
{
    public function __construct()
    {
        parent::__construct('rate-limit');
    }

    protected function configure(): void
    {
        $this->setDescription('Closes a queue, or a group, for some time; never shortens what keeps it closed already')
            ->addArgument('for', InputArgument::REQUIRED, 'How long: seconds, 500ms, 15m, PT15M')
            ->addOption('group', null, InputOption::VALUE_REQUIRED, 'Only this group')
            ->setHelp(<<<'TEXT'
                  delayqueue rate-limit 30s --group=api.example.com --queue=webhooks

                The answer to a 429 with Retry-After. pause --for sets the moment anew instead, and resume ends both.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        [$for, $group] = [$input->getArgument('for'), $input->getOption('group')];
        $target->refuseUnknown(...$target->names());
        $seconds = Duration::of($for, 'the time');
        foreach ($target->names() as $name) {
            $queue = $target->open($name);
            $or = PauseCommand::isPaused($queue, $group) === true ? ', or longer: it was closed already' : '';
            $queue->rateLimit($seconds, $group);
            $end = PauseCommand::end($seconds);
            Format::line($output, PauseCommand::name($name, $group) . ": closed $end$or");
        }

        return ExitCode::OK;
    }
}
