<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue\Stats;
use Symfony\Component\Console\Output\OutputInterface;

/** The numbers of queues as stats prints them. */
final class StatsView
{
    private const HEADER = ['queue', 'delayed', 'ready', 'blocked', 'reserved', 'buried', 'acked', 'failed', 'oldest', 'next', 'late', 'run'];

    /** No line is longer than 100 characters. */
    private const LEGEND = <<<'TEXT'
        oldest: the oldest ready job has been due for so long, blocked ones left out. next: until the next
        delayed job is due. late, run: 99 of 100 jobs of the last hour were served no later, and ran no
        longer. acked, failed: jobs done, and attempts that failed, since the queue was made.
        TEXT;

    /** @param array<string, Stats> $stats by queue */
    public static function print(OutputInterface $output, array $stats): void
    {
        if ($stats === []) {
            Format::raw($output, 'There are no queues.');

            return;
        }
        Format::table($output, self::HEADER, array_map(self::row(...), array_keys($stats), $stats));
        Format::raw($output, "\n" . self::LEGEND);
        $paused = array_keys(array_filter($stats, static fn (Stats $one): bool => $one->paused));
        $paused === [] || Format::line($output, 'paused: ' . implode(', ', $paused));
    }

    /** @return array<string, mixed> for JSON; times in the unit of their name, others in seconds */
    public static function toArray(string|int $name, Stats $stats): array
    {
        return ['queue' => (string) $name] + get_object_vars($stats) + self::times($stats, false) + ['sinceStart' => self::times($stats, true)];
    }

    /** @return array<string, mixed> */
    private static function times(Stats $stats, bool $sinceStart): array
    {
        $runs = $stats->runTimes($sinceStart);
        $runs['timedOut'] = $runs['timed_out'];
        unset($runs['timed_out']);

        return ['latenessMs' => $stats->lateness($sinceStart), 'waitMs' => $stats->waitTime($sinceStart), 'runMs' => $runs];
    }

    /** @return list<string> */
    private static function row(string|int $name, Stats $stats): array
    {
        return [
            (string) $name,
            ...array_map(Text::number(...), [$stats->delayed, $stats->ready, $stats->blocked, $stats->reserved, $stats->buried, $stats->acked, $stats->failed]),
            $stats->oldestReadyAge === null ? '-' : Text::length($stats->oldestReadyAge),
            $stats->nextDueAt === null ? '-' : Text::length(max(0, $stats->nextDueAt - microtime(true))),
            self::p99($stats->lateness()),
            self::p99($stats->runTimes()['acked']),
        ];
    }

    /** @param array{p99: float, count: int} $times */
    private static function p99(array $times): string
    {
        return $times['count'] === 0 ? '-' : Text::length($times['p99'] / 1000);
    }
}
