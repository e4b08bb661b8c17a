<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue\Console\Application;
use DelayQueue\Console\ExitCode;
use DelayQueue\Console\Format;
use DelayQueue\Console\NothingDone;
use DelayQueue\Console\Target;
use DelayQueue\Database\Journal;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class JournalShowCommand extends Command
{
    public function __construct()
    {
        parent::__construct('journal:show');
    }

    protected function configure(): void
    {
        $this->setDescription('Shows what the journal knows of the jobs of an id, with their last runs')
            ->addArgument('id', InputArgument::REQUIRED, 'The id of the job; there may be a newer one of the same id')
            ->setHelp("  delayqueue journal:show order-4711 --queue=orders\n\nWithout --queue it looks for the id in all queues.\n\n" . Application::EXIT_CODES);
        Database::describe($this);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        [$id, $queue] = [$input->getArgument('id'), (new Target($input))->nameOrAll()];
        // A database of UTF-8 does not even take the question.
        $jobs = preg_match('//u', $id) === 1 ? (new Journal((new Database($input))->connection()))->find($id, $queue) : [];
        if ($jobs === []) {
            throw new NothingDone("the journal knows of no job $id" . ($queue === null ? '' : " in queue $queue"));
        }
        if ($format === Format::JSON) {
            Format::json($output, array_map(JournalView::toArray(...), $jobs));

            return ExitCode::OK;
        }
        foreach ($jobs as $number => $job) {
            $number > 0 && Format::raw($output, '');
            foreach (JournalView::toText($job) as [$label, $text]) {
                Format::line($output, sprintf('%-12s %s', $label, $text));
            }
        }

        return ExitCode::OK;
    }
}
