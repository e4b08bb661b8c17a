<?php

declare(strict_types=1);

namespace DelayQueue\Console\Check;

use DelayQueue\Console\UsageException;
use DelayQueue\Stats;
use Symfony\Component\Console\Command\Command;
use Symfony\Component\Console\Input\InputInterface;
use Symfony\Component\Console\Input\InputOption;

/** The limits that the command line sets, and what a queue is by them. */
final class Limits
{
    /** @param array<string, array<string, float>> $limits by measure, then by level */
    private function __construct(private readonly array $limits)
    {
    }

    public static function describe(Command $command): void
    {
        foreach (Measure::cases() as $measure) {
            $command->addOption($measure->value, null, InputOption::VALUE_REQUIRED, $measure->description());
        }
        foreach (Measure::cases() as $measure) {
            $command->addOption("warn-$measure->value", null, InputOption::VALUE_REQUIRED, "Warn beyond this; --$measure->value is critical");
        }
    }

    /** @throws UsageException when a limit is none, or there is no limit */
    public static function of(InputInterface $input): self
    {
        $limits = [];
        foreach (Measure::cases() as $measure) {
            foreach ([Level::Critical->value => '', Level::Warning->value => 'warn-'] as $level => $prefix) {
                $text = $input->getOption("$prefix$measure->value");
                if ($text !== null) {
                    $limits[$measure->value][$level] = $measure->read($text, "--$prefix$measure->value");
                }
            }
        }
        if ($limits === []) {
            throw new UsageException('give a limit: --' . implode(', --', array_column(Measure::cases(), 'value')));
        }

        return new self($limits);
    }

    /** @return list<Finding> one for each measure that has a limit, and that tells something about this queue */
    public function judge(string $queue, Stats $stats): array
    {
        $findings = [];
        foreach ($this->limits as $name => $limits) {
            $measure = Measure::from($name);
            $value = $measure->value($stats);
            if ($value !== null) {
                $findings[] = self::finding($queue, $measure, $value, $limits);
            } elseif ($measure === Measure::Workers) {
                $findings[] = new Finding($queue, $measure, Level::Unknown, null, null);
            }
        }

        return $findings;
    }

    /** @param array<string, float> $limits by level, the worst level first */
    private static function finding(string $queue, Measure $measure, float $value, array $limits): Finding
    {
        foreach ($limits as $level => $limit) {
            if ($measure->isPassed($value, $limit)) {
                return new Finding($queue, $measure, Level::from($level), $value, $limit);
            }
        }

        return new Finding($queue, $measure, Level::Ok, $value, null);
    }
}
