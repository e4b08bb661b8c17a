<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue;
use DelayQueue\Console\Application;
use DelayQueue\Console\Duration;
use DelayQueue\Console\Format;
use DelayQueue\Console\Target;
use DelayQueue\Console\UsageException;
use DelayQueue\Console\Worker\Notices;
use DelayQueue\Database\Journal;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class JournalPruneCommand extends Command
{
    /** States of a job that has ended. */
    private const STATES = ['done', 'cancelled', 'gone'];

    public function __construct()
    {
        parent::__construct('journal:prune');
    }

    protected function configure(): void
    {
        $value = InputOption::VALUE_REQUIRED;
        $this->setDescription('Deletes jobs that ended long ago from the journal, and prints how many, and how many are gone now')
            ->addOption('older-than', null, $value, 'Jobs that ended so long ago: 30d, 12h')
            ->addOption('state', null, $value, 'Only jobs of this state: ' . implode(', ', self::STATES))
            ->setHelp(<<<'TEXT'
                  delayqueue journal:prune --older-than=30d

                Without --queue it prunes those of all queues. A job that was due so long ago, has not ended, and is not in its queue any more,
                is "gone" from now on.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Database::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $age = Duration::of($input->getOption('older-than') ?? throw new UsageException('how old? Give --older-than, such as 30d'), '--older-than');
        $state = Jobs::state($input, self::STATES);
        $target = new Target($input);
        $failures = new FailureLog(new Notices($output, false), 'pruneFailed');
        $queues = static fn (string $queue): DelayQueue => $target->openWhole($queue);
        $journal = new Journal((new Database($input))->connection(), $queues, report: $failures->add(...));
        $deleted = $journal->prune($age, $state, $target->nameOrAll());
        Format::raw($output, "$deleted deleted, {$journal->gone()} are gone now");

        return $failures->exitCode();
    }
}
