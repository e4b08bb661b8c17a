<?php

declare(strict_types=1);

namespace DelayQueue\Console\Database;

use DelayQueue\Console\Format;
use DelayQueue\Console\Text;
use DelayQueue\Database\JobRecord;
use Symfony\Component\Console\Output\OutputInterface;

/** A job of the journal as its commands print it. */
final class JournalView
{
    /** @param list<JobRecord> $jobs */
    public static function print(OutputInterface $output, string $format, array $jobs): void
    {
        if ($format === Format::JSON) {
            Format::json($output, array_map(self::toArray(...), $jobs));
        } elseif ($jobs === []) {
            Format::note($output, 'the journal has no such jobs');
        } else {
            Format::table($output, ['queue', 'id', 'state', 'attempts', 'last run', 'ended', 'error'], array_map(self::row(...), $jobs));
        }
    }

    /** @return array<string, mixed> for JSON; times in Unix seconds, lengths in seconds */
    public static function toArray(JobRecord $job): array
    {
        return get_object_vars($job);
    }

    /** @return list<array{string, string}> for people: label and text */
    public static function toText(JobRecord $job): array
    {
        $moment = static fn (?float $seconds): string => $seconds === null ? '' : Text::momentAndDistance($seconds);
        $texts = array_filter([
            'id' => $job->id,
            'queue' => $job->queue,
            'group' => $job->group ?? '',
            'state' => $job->state,
            'created' => $moment($job->createdAt),
            'due' => $moment($job->dueAt),
            'ended' => $moment($job->endedAt),
            'attempts' => (string) $job->attempts,
            'error' => $job->error ?? '',
            'payload' => $job->payload ?? '',
        ], static fn (string $text): bool => $text !== '');
        $lines = array_map(static fn (string $label, string $text): array => [$label, $text], array_keys($texts), $texts);
        foreach ($job->runs as $run) {
            $error = $run['error'] === null ? '' : ": $run[error]";
            $lines[] = ["run $run[attempt]", Text::moment($run['began']) . " $run[outcome] after " . Text::length($run['duration']) . " by $run[worker]$error"];
        }

        return $lines;
    }

    /** @return list<string> */
    private static function row(JobRecord $job): array
    {
        return [
            $job->queue, $job->id, $job->state, "$job->attempts", $job->beganAt === null ? '' : Text::momentAndDistance($job->beganAt),
            $job->endedAt === null ? '' : Text::moment($job->endedAt), Text::short($job->error ?? '', 60),
        ];
    }
}
