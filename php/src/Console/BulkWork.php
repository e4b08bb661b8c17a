<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\QueueInterface;
use DelayQueue\Search\Search;
use DelayQueue\State;
use Symfony\Component\Console\Helper\ProgressBar;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\ConsoleOutputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** One pass over many jobs: --dry-run, a bar on a terminal while it runs, and a line at the end. */
final class BulkWork
{
    /** @param list<State> $states that are searched; none: all */
    public function __construct(
        private readonly InputInterface $input,
        private readonly OutputInterface $output,
        private readonly QueueInterface $queue,
        private readonly array $states,
    ) {
    }

    /** Asks before jobs are deleted, with their number. */
    public function confirm(Search $search): void
    {
        if (!$this->input->getOption('dry-run')) {
            $number = fn (): int => $this->pass($search->count(...));
            Confirmation::ask($this->input, $this->output, fn (): string => "Delete {$number()} jobs of queue {$this->queue->name()}");
        }
    }

    /**
     * @param string $done what becomes of the jobs, such as "cancelled"
     * @param callable(callable(int, int): void): int $act gets the callback for its progress
     * @param (callable(callable(int, int): void): int)|null $count of a dry run; null: all that are found
     */
    public function run(Search $search, string $done, callable $act, ?callable $count = null): int
    {
        if ($this->input->getOption('dry-run')) {
            $number = $this->pass($count ?? $search->count(...));
            Format::raw($this->output, "$number would be $done");

            return $number;
        }
        $number = $this->pass($act);
        Format::raw($this->output, "$number $done" . ($search->skipped() > 0 ? ", {$search->skipped()} left as they are" : ''));

        return $number;
    }

    /** @param callable(callable(int, int): void): int $act */
    public function pass(callable $act): int
    {
        $errors = $this->output instanceof ConsoleOutputInterface ? $this->output->getErrorOutput() : null;
        if ($errors === null || $errors->isQuiet() || !stream_isatty(STDERR)) {
            return $act(static fn (int $done, int $read) => null);
        }
        $bar = new ProgressBar($errors, array_sum(array_map($this->queue->count(...), $this->states ?: State::cases())));
        $bar->setFormat(' %current%/%max% jobs read [%bar%] %percent:3s%% %elapsed:6s%');
        $bar->start();
        try {
            return $act(static fn (int $done, int $read) => $bar->setProgress($read));
        } finally {
            $bar->clear();
        }
    }
}
