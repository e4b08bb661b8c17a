<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue\Console\Application;
use DelayQueue\Console\ExitCode;
use DelayQueue\Console\Format;
use DelayQueue\Database\Schema;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class OutboxInstallCommand extends Command
{
    public function __construct()
    {
        parent::__construct('outbox:install');
    }

    protected function configure(): void
    {
        $this->setDescription('Makes the tables of the outbox in the database')
            ->addOption('jobs', null, InputOption::VALUE_NONE, 'Also the table of inbox and journal')
            ->addOption('print', null, InputOption::VALUE_NONE, 'Only print the SQL, for a migration; asks no database')
            ->setHelp(<<<'TEXT'
                  delayqueue outbox:install --jobs --database="pgsql:host=localhost;dbname=shop"
                  delayqueue outbox:install --print --database=mysql:

                Tables that are there stay as they are. It needs no Redis.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Database::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $database = new Database($input);
        $jobs = $input->getOption('jobs');
        if ($input->getOption('print')) {
            foreach (Schema::statements($database->driver(), $jobs) as $statement) {
                Format::raw($output, "$statement;");
            }

            return ExitCode::OK;
        }
        $connection = $database->connection(make: true);
        Schema::install($connection, $jobs);
        // Refuses tables of another version, which were there.
        Schema::source($connection);
        Format::raw($output, 'the tables ' . implode(', ', [Schema::OUTBOX, Schema::SOURCE, ...($jobs ? [Schema::JOBS] : [])]) . ' are there');

        return ExitCode::OK;
    }
}
