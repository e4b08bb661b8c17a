<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Console\Worker\HandlerLoader;
use DelayQueue\Console\Worker\JobLog;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
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
        $this->setDescription('Runs a handler for everything that is due now, then ends: the form for cron')
            ->addArgument('handler', InputArgument::REQUIRED, HandlerLoader::HELP)
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'How many jobs at most; 0: no limit', '0')
            ->addOption('bootstrap', null, InputOption::VALUE_REQUIRED, 'A PHP file to load first, such as vendor/autoload.php')
            ->addOption('log', null, InputOption::VALUE_REQUIRED, 'How to write the lines: text or json', Format::TEXT)
            ->setHelp("  * * * * *  delayqueue drain -q /srv/shop/handler.php --queue=orders\n\nOne line per job goes to standard output; -q leaves them out.\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $limit = Number::of($input->getOption('limit'), '--limit');
        $log = new JobLog($output, Format::isJson($input->getOption('log'), '--log'));
        $queue = (new Target($input))->watching();
        $queue->drain($log->watch($queue, HandlerLoader::load($input->getArgument('handler'), $input->getOption('bootstrap'))), $limit);

        return ExitCode::OK;
    }
}
