<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\Exception;

/** The workers of queues in Prometheus' text format. */
final class WorkerMetrics
{
    private const STATES = ['idle', 'working', 'paused', 'stopping'];

    /**
     * Nothing where the list cannot be read: for want of the right, or since its node of a cluster is away.
     *
     * @param list<string|int> $names of the queues
     */
    public static function text(DelayQueue $queue, array $names): string
    {
        try {
            $workers = $queue->workers();
        } catch (Exception) {
            return '';
        }
        $text = "# HELP delayqueue_workers Workers that serve the queue, by state.\n# TYPE delayqueue_workers gauge\n";
        foreach ($names as $name) {
            $serving = array_filter($workers, static fn (array $worker): bool => in_array((string) $name, $worker['queues'], true));
            $counts = array_count_values(array_column($serving, 'state'));
            foreach (self::STATES as $state) {
                // Names of queues have no character that would have to be escaped.
                $text .= sprintf("delayqueue_workers{queue=\"%s\",state=\"%s\"} %d\n", $name, $state, $counts[$state] ?? 0);
            }
        }

        return $text;
    }
}
