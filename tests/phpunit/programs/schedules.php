<?php

/**
 * One of the processes around a queue of schedules, which says ready when it begins.
 *
 *     schedules.php DSN run           pushes the jobs of schedules that are due
 *     schedules.php DSN work FILE     empties the queue of the jobs, and writes the id of each into the file
 */

declare(strict_types=1);

use DelayQueue\Job;
use DelayQueue\Schedule\Runner;

require dirname(__DIR__, 3) . '/php/autoload.php';

[, $dsn, $what] = $argv;
$queue = new DelayQueue($what === 'run' ? 'schedules' : 'target', $dsn, ['readTimeout' => 10]);
echo "ready\n";
$queue->consume(
    $what === 'run' ? new Runner($queue) : static fn (Job $job) => file_put_contents($argv[3], "$job->id\n", FILE_APPEND | LOCK_EX) > 0,
    prefetch: Runner::PREFETCH,
);
