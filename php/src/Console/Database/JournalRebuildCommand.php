<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue;
use DelayQueue\Console\Application;
use DelayQueue\Console\ExitCode;
use DelayQueue\Console\Format;
use DelayQueue\Console\NothingDone;
use DelayQueue\Console\Target;
use DelayQueue\Database\Journal;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class JournalRebuildCommand extends Command
{
    public function __construct()
    {
        parent::__construct('journal:rebuild');
    }

    protected function configure(): void
    {
        $this->setDescription('Pushes the jobs of a queue that have not ended, by the journal, and are not there; prints how many')
            ->setHelp(<<<'TEXT'
                  delayqueue journal:rebuild --queue=orders

                For a Redis that has lost its jobs. It pushes those whose payload the journal has: of an Outbox with $journal, or of workers with
                --journal-payloads. Jobs that a plain cancel() has ended come back, and those whose end the journal did not hear of.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Database::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $queue = $target->queue()->name();
        $journal = new Journal((new Database($input))->connection(), static fn (string $name): DelayQueue => $target->open($name));
        $pushed = $journal->rebuild($queue);
        if ($pushed === 0 && $journal->search($queue, limit: 1) === []) {
            throw new NothingDone("the journal knows of no job in queue $queue");
        }
        Format::raw($output, "$pushed pushed");

        return ExitCode::OK;
    }
}
