<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DateTimeImmutable;
use DelayQueue\Internal\Json;
use DelayQueue\Internal\Verbatim;
use DelayQueue\Schedule\Schedule;

/** A schedule as `schedules` and `schedules:show` print it. */
final class ScheduleView
{
    private const MOMENTS = 5;

    /** @return array<string, mixed> for JSON; times in Unix seconds */
    public static function toArray(Schedule $schedule): array
    {
        $definition = array_diff_key($schedule->definition->toArray(), ['json' => 0]);

        return ['name' => $schedule->name] + $definition + [
            'payload' => self::payload($schedule),
            'paused' => $schedule->paused,
            'buried' => $schedule->buried,
            'pausedUntil' => self::seconds($schedule->pausedUntil),
            'next' => array_map(self::seconds(...), $schedule->next(self::MOMENTS)),
            'lastError' => $schedule->lastError,
        ];
    }

    /** @return list<string> */
    public static function row(Schedule $schedule): array
    {
        return [$schedule->name, (string) $schedule->when, $schedule->queue, self::when($schedule), Text::short($schedule->lastError ?? '', 60)];
    }

    /** @return list<array{string, string}> for people: label and text */
    public static function toText(Schedule $schedule): array
    {
        $definition = $schedule->definition->toArray();
        $catchUp = is_float($schedule->catchUp) ? Text::length($schedule->catchUp) : $schedule->catchUp->value;
        $lines = [['name', $schedule->name], ['when', (string) $schedule->when], ['queue', $schedule->queue], ['next', self::when($schedule)]];
        foreach (array_slice($schedule->next(self::MOMENTS), 1) as $moment) {
            $lines[] = ['', Text::momentAndDistance((float) self::seconds($moment))];
        }
        $lines[] = ['until', $schedule->until === null ? '' : Text::momentAndDistance((float) self::seconds($schedule->until))];
        $lines[] = ['overlap', $schedule->overlap->value];
        $lines[] = ['catch up', $catchUp];
        $lines[] = ['jitter', $schedule->jitter > 0 ? Text::length($schedule->jitter) : ''];
        $lines[] = ['last error', strtok($schedule->lastError ?? '', "\n") ?: ''];
        foreach ($definition['options'] ?? [] as $name => $value) {
            $lines[] = [$name, is_string($value) ? $value : Json::line($value)];
        }
        $lines[] = ['payload', Json::line(self::payload($schedule))];
        $isSaid = static fn (array $line): bool => $line[1] !== '';

        return array_values(array_filter($lines, $isSaid));
    }

    private static function payload(Schedule $schedule): mixed
    {
        $json = $schedule->definition->json;

        return $json === null ? $schedule->payload : new Verbatim($json);
    }

    private static function when(Schedule $schedule): string
    {
        $next = $schedule->nextAt === null ? '' : Text::momentAndDistance((float) self::seconds($schedule->nextAt));

        if ($schedule->buried) {
            return 'buried';
        }

        if ($schedule->paused) {
            return implode(', next ', array_filter(['paused', $next]));
        }

        return $schedule->isLate(microtime(true)) ? "$next, late: does a runner work?" : $next;
    }

    private static function seconds(?DateTimeImmutable $moment): ?float
    {
        return $moment === null ? null : (float) $moment->format('U.u');
    }
}
