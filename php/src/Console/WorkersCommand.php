<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Output\OutputInterface;

final class WorkersCommand extends Command
{
    public function __construct()
    {
        parent::__construct('workers');
    }

    protected function configure(): void
    {
        $this->setDescription('Lists the workers that run now, with the jobs that they run')
            ->addArgument('worker', InputArgument::OPTIONAL, 'HOST or HOST:PID; none: all of them')
            ->setHelp(<<<'TEXT'
                  delayqueue workers
                  delayqueue workers web1 --queue=orders --format=json

                A worker is in the list once it has run for a second, until it ends; one that was killed, for half a minute. "told" are orders of
                workers:stop, workers:restart, workers:pause and workers:resume that it has not heard yet: it hears them within 12 seconds.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Format::describe($this);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input);
        $target = new Target($input);
        $choice = WorkerChoice::of($input->getArgument('worker'), $target);
        $workers = $target->anywhere()->workers(...$choice);
        if ($format === Format::JSON) {
            Format::json($output, $workers);
        } elseif ($workers === []) {
            Format::note($output, WorkerChoice::none($choice));
        } else {
            Format::table($output, ['worker', 'kind', 'state', 'told', 'job', 'for', 'memory', 'up', 'version', 'queues'], array_map(self::row(...), $workers));
        }

        return ExitCode::OK;
    }

    /**
     * @param array<string, mixed> $worker of DelayQueue::workers()
     *
     * @return list<string>
     */
    private static function row(array $worker): array
    {
        ['job' => $job, 'memory' => $memory, 'seenAt' => $seenAt] = $worker;
        // Up to when it wrote this, so that both moments are of one clock.
        $since = static fn (float $moment): string => Text::length(max(0, $seenAt - $moment));

        return [
            "{$worker['host']}:{$worker['pid']}", $worker['kind'], $worker['state'], implode(', ', $worker['orders']),
            $job === null ? '' : Text::short("{$job['queue']} {$job['id']}", 60), $job === null ? '' : $since($job['since']),
            $memory === null ? '' : sprintf('%.0f MB', $memory / 1e6), $since($worker['startedAt']), $worker['version'],
            Text::short(implode(', ', $worker['queues']), 60),
        ];
    }
}
