<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\WorkerOrder;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

/** workers:stop, workers:restart, workers:pause, workers:resume. */
final class WorkerOrderCommand extends Command
{
    public function __construct(private readonly WorkerOrder $order)
    {
        parent::__construct("workers:$order->value");
    }

    protected function configure(): void
    {
        [$description, $more] = match ($this->order) {
            WorkerOrder::Stop => ['Ends workers as SIGTERM does', 'A parent of several processes starts no other in the place of one that was stopped.'],
            WorkerOrder::Restart => ['Ends workers for new processes to take their places', 'A parent of several processes starts another; a single worker ends with 75.'],
            WorkerOrder::Pause => ['Keeps workers from taking jobs until workers:resume', 'Workers that start later do take jobs: to keep jobs from all workers, use pause.'],
            WorkerOrder::Resume => ['Lets workers that were paused take jobs again', 'It ends no pause of a queue: for that, use resume.'],
        };
        $name = $this->getName();
        $this->setDescription($description)
            ->addArgument('worker', InputArgument::OPTIONAL, 'HOST or HOST:PID; none: all of them')
            ->setHelp("  delayqueue $name\n  delayqueue $name web1\n  delayqueue $name web1:4711\n  delayqueue $name --queue=orders\n\n"
                . "Prints how many workers were told. They hear it within 12 seconds; jobs in hand are finished. $more\n\n" . Application::EXIT_CODES);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $target = new Target($input);
        $choice = WorkerChoice::of($input->getArgument('worker'), $target);
        $told = $target->anywhere()->tellWorkers($this->order, ...$choice);
        Format::raw($output, "$told told to {$this->order->value}");
        $told > 0 || Format::note($output, WorkerChoice::none($choice));

        return $told > 0 ? ExitCode::OK : ExitCode::FAILED;
    }
}
