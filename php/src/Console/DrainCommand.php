<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Console\Worker\BatchOption;
use DelayQueue\Console\Worker\HandlerLoader;
use DelayQueue\Console\Worker\JobLog;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class DrainCommand extends Command
{
    public function __construct()
    {
        parent::__construct('drain');
    }

    protected function configure(): void
    {
        HandlerLoader::describe($this);
        BatchOption::describe($this);
        JobLog::describe($this);
        $this->setDescription('Runs a handler for everything that is due now, then ends: the form for cron')
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'How many jobs at most; 0: no limit', '0')
            ->addOption('create', null, InputOption::VALUE_NONE, 'The queue may be one to which nothing was pushed yet')
            ->setHelp(<<<'TEXT'
                  * * * * *  delayqueue drain -q /srv/shop/handler.php --queue=orders

                The command writes one line per job to standard output; with -q it writes none.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $limit = Number::of($input->getOption('limit'), '--limit');
        $batch = BatchOption::of($input);
        $log = JobLog::of($input, $output);
        HandlerLoader::bootstrap($input);
        $target = new Target($input);
        $queue = $target->watching();
        $handler = HandlerLoader::load($input);
        $input->getOption('create') || $target->refuseUnknown(...$target->names());
        $queue->consume($log->watch($queue, $handler), ...$batch, maxJobs: $limit, stopWhenEmpty: true);

        return $log->hasLost() ? ExitCode::FAILED : ExitCode::OK;
    }
}
