<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\ServerException;

/** The counters of tasks for Prometheus. It needs no autoloader. */
final class TaskMetrics
{
    /** What tasks() counts, and what of it. */
    private const COUNTERS = [
        'runs' => 'Calls of handlers, by the name of the task.',
        'failures' => 'Those of them that have failed.',
        'seconds' => 'How long they took together.',
    ];

    /** Those of all queues under the prefix. Nothing where the Redis user may not read them. */
    public static function page(DelayQueue $queue): string
    {
        try {
            $tasks = $queue->tasks();
        } catch (ServerException $error) {
            return $error->redisCode === 'NOPERM' ? '' : throw $error;
        }
        $page = '';
        foreach (self::COUNTERS as $counter => $help) {
            $metric = "delayqueue_task_{$counter}_total";
            $page .= "# HELP $metric $help\n# TYPE $metric counter\n";
            foreach ($tasks as $task => $count) {
                $page .= sprintf("%s{task=\"%s\"} %s\n", $metric, addcslashes((string) $task, '\\"'), $count[$counter]);
            }
        }

        return $page;
    }
}
