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
    private const PROMETHEUS = 'prometheus';

    public function __construct()
    {
        parent::__construct('stats');
    }

    protected function configure(): void
    {
        $this->setDescription('Shows the numbers of all queues, or of some')
            ->addArgument('name', InputArgument::OPTIONAL | InputArgument::IS_ARRAY, 'Names of queues, as with --queue; none: all under the prefix')
            ->addOption('watch', null, InputOption::VALUE_OPTIONAL, 'Print again and again until a signal, with this many seconds between (default: 2)', false)
            ->setHelp("  delayqueue stats\n  delayqueue stats orders --watch=0.5\n  delayqueue stats --format=prometheus\n\n" . Application::EXIT_CODES);
        Format::describe($this, self::PROMETHEUS);
    }

    protected function execute(InputInterface $input, OutputInterface $output): int
    {
        $format = Format::of($input, self::PROMETHEUS);
        $target = new Target($input);
        $pause = $input->getOption('watch') === false ? null : self::seconds($input->getOption('watch') ?? '2');
        $names = [...$input->getArgument('name'), ...$target->named()];
        $anywhere = $target->open($target->names()[0]);
        $target->refuseUnknown($anywhere, ...$names);
        do {
            $stats = [];
            foreach ($names ?: $anywhere->queues() as $name) {
                $stats[$name] = $target->open($name)->stats();
            }
            if ($pause !== null && $format === Format::TEXT) {
                // Over the last one where that can be done, else below it.
                $output->write($output->isDecorated() ? "\e[H\e[2J" : Text::moment(microtime(true)) . "\n");
            }
            $this->print($output, $format, $stats);
        } while ($pause !== null && usleep((int) ($pause * 1e6)) === null);

        return ExitCode::OK;
    }

    /** @param array<string, Stats> $stats by queue */
    private function print(OutputInterface $output, string $format, array $stats): void
    {
        match ($format) {
            Format::JSON => Format::json($output, array_map(self::toArray(...), array_keys($stats), $stats)),
            self::PROMETHEUS => $output->write(
                Prometheus::merge(array_map(static fn (Stats $one): string => $one->toPrometheus(), $stats)),
                false,
                OutputInterface::OUTPUT_RAW,
            ),
            default => Format::table(
                $output,
                ['queue', 'delayed', 'ready', 'reserved', 'buried', 'pushed', 'acked', 'failed', 'oldest', 'next due', 'late p50/p99', ''],
                array_map(self::row(...), array_keys($stats), $stats),
            ),
        };
    }

    /** @return array<string, mixed> */
    private static function toArray(string|int $name, Stats $stats): array
    {
        return ['queue' => (string) $name] + get_object_vars($stats) + ['lateness_ms' => $stats->lateness()];
    }

    /** @return list<string> */
    private static function row(string|int $name, Stats $stats): array
    {
        ['p50' => $p50, 'p99' => $p99] = $stats->lateness();

        return [
            (string) $name, "$stats->delayed", "$stats->ready", "$stats->reserved", "$stats->buried", "$stats->pushed", "$stats->acked", "$stats->failed",
            $stats->oldestReadyAge === null ? '' : Text::length($stats->oldestReadyAge),
            $stats->nextDueAt === null ? '' : 'in ' . Text::length(max(0, $stats->nextDueAt - microtime(true))),
            sprintf('%.0f/%.0f ms', $p50, $p99),
            $stats->paused ? 'paused' : '',
        ];
    }

    private static function seconds(string $text): float
    {
        return is_numeric($text) && (float) $text > 0 ? (float) $text : throw new UsageException('--watch must be a number of seconds');
    }
}
