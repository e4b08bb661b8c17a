<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class ShowCommand extends Command
{
    public function __construct()
    {
        parent::__construct('show');
    }

    protected function configure(): void
    {
        $this->setDescription('Shows everything about one job')
            ->addArgument('id', InputArgument::REQUIRED, 'The id of the job')
            ->setHelp("  delayqueue show order-4711 --queue=orders\n\n" . Application::EXIT_CODES);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $id = $input->getArgument('id');
        $target = new Target($input);
        $queue = $target->queue();
        $job = $queue->peek($id);
        if ($job === null) {
            $target->refuseUnknown($queue->name());
            throw new NothingDone("there is no job $id in queue {$queue->name()}; --queue names another one");
        }
        if ($format === Format::JSON) {
            Format::json($output, JobView::toArray($job));
        } else {
            foreach (JobView::toText($job) as [$label, $text]) {
                Format::line($output, sprintf('%-12s %s', $label, $text));
            }
        }

        return ExitCode::OK;
    }
}
