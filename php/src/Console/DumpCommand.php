<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Dump\Dump;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class DumpCommand extends Command
{
    public function __construct()
    {
        parent::__construct('dump');
    }

    protected function configure(): void
    {
        $this->setDescription('Prints every job of some queues, one line of JSON each, for load')
            ->addOption('all', null, InputOption::VALUE_NONE, 'All queues under the prefix')
            ->addOption('limits', null, InputOption::VALUE_NONE, 'Also the limits that are set, of groups and of the queue')
            ->addOption('open', null, InputOption::VALUE_NONE, 'Open sealed jobs with the keys: the dump can then be read by anybody, and loaded into any queue')
            ->setHelp(<<<'TEXT'
                  delayqueue pause --queue=orders
                  delayqueue dump --queue=orders > orders.ndjson
                  delayqueue load orders.ndjson --dsn=redis://new-host:6379/0

                A dump is a snapshot of each page, not of the whole. Of a queue that is in use, jobs that change their state
                meanwhile can be missing or there twice: pause it, and let its workers finish, for an exact one.

                Receipts of pushOnce(), and ids that are taken for some time, are lines behind the jobs; limits, with --limits, are lines before them.
                Pauses are in no dump.

                The last line says that the dump is whole: load warns where it is missing.

                Sealed jobs are dumped as they are stored, and need no keys; they can only be loaded into a queue of the same name and prefix.
                TEXT . "\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $isOpen = $input->getOption('open');
        if ($isOpen && $target->keys() === null) {
            throw new UsageException('--open needs keys: --keys-file or DELAYQUEUE_KEYS_FILE');
        }
        $isAll = $input->getOption('all');
        $isAll || $target->refuseUnknown(...$target->names());
        $open = $isAll ? $target->openWhole(...) : $target->openWithoutKeys(...);
        $options = $isOpen ? $target->options() : [];
        $names = $isAll ? $target->anywhere()->queues() : $target->names();
        // Not between the lines of a dump that goes to the terminal itself.
        $progress = stream_isatty(STDOUT) ? null : new TerminalProgress(
            $output, static fn (): int => array_sum(array_map(static fn (string $name): int => count($open($name)), $names)), 'lines',
        );
        try {
            $queues = static function () use ($names, $open, $options): iterable {
                foreach ($names as $name) {
                    yield $open($name, $options);
                }
            };
            foreach (Dump::lines($queues(), $input->getOption('limits')) as $line) {
                Format::raw($output, $line);
                $progress?->advance();
            }
        } finally {
            $progress?->clear();
        }

        return ExitCode::OK;
    }
}
