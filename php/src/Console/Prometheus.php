<?php

declare(strict_types=1);

namespace DelayQueue\Console;

/** Prometheus' text format of several queues. */
final class Prometheus
{
    /**
     * One text of many: the format wants all lines of a metric in one group, under one HELP and one TYPE.
     *
     * @param array<string> $texts as of Stats::toPrometheus()
     */
    public static function merge(array $texts): string
    {
        $head = $lines = [];
        foreach ($texts as $text) {
            $metric = '';
            foreach (explode("\n", rtrim($text)) as $line) {
                if (preg_match('/^# (HELP|TYPE) (\S+)/', $line, $found)) {
                    $metric = $found[2];
                    $head[$metric][$found[1]] = $line;
                } else {
                    $lines[$metric][] = $line;
                }
            }
        }
        $merged = '';
        foreach ($lines as $metric => $samples) {
            $merged .= implode("\n", [...array_values($head[$metric] ?? []), ...$samples]) . "\n";
        }

        return $merged;
    }
}
