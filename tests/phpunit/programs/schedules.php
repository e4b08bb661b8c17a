<?php

/**
 * One of the processes around a queue of schedules, which says ready when it begins.
 *
 *     schedules.php DSN run           pushes the jobs of schedules that are due
 *     schedules.php DSN work FILE     empties the queue of the jobs, and writes the id of each into the file
 *     schedules.php DSN set TIMES     sets the schedule a so many times, each time with another payload
 *     schedules.php DSN pause TIMES   pauses and resumes it, and prints from when to when it may have been paused
 *
 * The last two print each change that was lost, and done at their end.
 */

declare(strict_types=1);

use DelayQueue\Job;
use DelayQueue\Schedule\CatchUp;
use DelayQueue\Schedule\Every;
use DelayQueue\Schedule\Runner;
use DelayQueue\Schedule\Schedules;

require dirname(__DIR__, 3) . '/php/autoload.php';

[, $dsn, $what] = $argv;
$queue = new DelayQueue($what === 'run' ? 'schedules' : 'target', $dsn, ['readTimeout' => 10]);
echo "ready\n";
if ($what === 'set' || $what === 'pause') {
    $queue = $queue->sibling('schedules');
    $schedules = new Schedules($queue);
    for ($number = 1; $number <= (int) $argv[3]; $number++) {
        if ($what === 'set') {
            $schedules->set('a', Every::interval('1s'), 'target', ['payload' => $number], catchUp: CatchUp::All);
            echo $schedules->get('a')?->payload === $number ? '' : "lost payload $number\n";
            continue;
        }
        $from = $queue->now();
        $schedules->pause('a');
        echo $schedules->get('a')?->paused === true ? '' : "lost pause $number\n";
        $schedules->resume('a');
        echo $schedules->get('a')?->paused === false ? '' : "lost resume $number\n";
        printf("paused %.6F %.6F\n", $from, $queue->now());
    }
    echo "done\n";
    exit;
}
$queue->consume(
    $what === 'run' ? new Runner($queue) : static fn (Job $job) => file_put_contents($argv[3], "$job->id\n", FILE_APPEND | LOCK_EX) > 0,
    prefetch: Runner::PREFETCH,
);
