<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Stats;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputArgument;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;
use Symfony\Component\Console\Output\OutputInterface;

final class StatsCommand extends Command
{
    /** Most queues, unless told otherwise. */
    public const LIMIT = 1000;
    public const PROMETHEUS = 'prometheus';

    public function __construct()
    {
        parent::__construct('stats');
    }

    protected function configure(): void
    {
        $this->setDescription('Shows the numbers of all queues, or of some')
            ->addArgument('name', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Names of queues, or patterns such as "mail-*", as with --queue; none: all under the prefix')
            ->addOption('limit', null, InputOption::VALUE_REQUIRED, 'At most so many queues', (string) self::LIMIT)
            ->addOption('watch', null, InputOption::VALUE_OPTIONAL, 'Print again and again until a signal, with this many seconds between (default: 2)', false)
            ->setHelp(<<<'TEXT'
                  delayqueue stats
                  delayqueue stats orders --watch=0.5
                  delayqueue stats "mail-*"
                  delayqueue stats --format=prometheus

                Blocked are ready jobs that may not be served now: their group is closed, or its limits allow no more. --format=json has more
                numbers: the median, 95th and 99th percentile of each time, of the last hour and since the queue was made.
                TEXT . "\n\n" . Application::EXIT_CODES);
        Format::describe($this, self::PROMETHEUS);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input, self::PROMETHEUS);
        $target = new Target($input);
        $pause = $input->getOption('watch') === false ? null : self::seconds($input->getOption('watch') ?? '2');
        $limit = Number::of($input->getOption('limit'), '--limit', 1);
        $choice = new QueueChoice([...$input->getArgument('name'), ...$target->named()], $limit);
        $target->keys(); // a mistake in them is told also where there is no queue
        $anywhere = $target->anywhere();
        $named = $choice->named();
        $target->refuseUnknown(...$named);
        foreach (UnknownQueue::patterns($target, $choice) as $why) {
            // Programs get an empty list.
            $format === Format::TEXT ? throw new UsageException($why) : Format::note($output, $why);
        }
        do {
            $stats = [];
            [$names, $leftOut] = $choice->among($anywhere->queues(...));
            foreach ($names as $name) {
                $queue = in_array($name, $named, true) ? $target->openWithoutKeys($name) : $target->openWhole($name);
                $stats[$name] = $queue->stats();
            }
            if ($pause !== null && $format === Format::TEXT) {
                // Over the last one where that can be done, else below it.
                $output->write($output->isDecorated() ? "\e[H\e[2J" : Text::moment(microtime(true)) . "\n");
            }
            $this->print($output, $format, $stats);
            if ($format === self::PROMETHEUS) {
                $output->write(QueueChoice::metric($leftOut), false, OutputInterface::OUTPUT_RAW);
            } elseif ($leftOut > 0) {
                $errors = Format::errors($output);
                $errors->writeln("queues left out: $leftOut; name some, such as \"mail-*\", or raise --limit");
            }
        } while ($pause !== null && usleep((int) ($pause * 1e6)) === null);

        return ExitCode::OK;
    }

    /** @param array<string, Stats> $stats by queue */
    private function print(OutputInterface $output, string $format, array $stats): void
    {
        match ($format) {
            Format::JSON => Format::json($output, array_map(StatsView::toArray(...), array_keys($stats), $stats)),
            self::PROMETHEUS => $output->write(Stats::prometheusPage(...array_values($stats)), false, OutputInterface::OUTPUT_RAW),
            default => StatsView::print($output, $stats),
        };
    }

    private static function seconds(string $text): float
    {
        return is_numeric($text) && (float) $text > 0 ? (float) $text : throw new UsageException('--watch must be a number of seconds');
    }
}
