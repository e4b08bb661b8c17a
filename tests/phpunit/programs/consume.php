<?php

/**
 * Works for ever. Each execution is a line in the log, written before the job is acknowledged: its id and attempt.
 * Takes jobs one by one or a few at once, and outlives a Redis that goes away.
 *
 *     consume.php DSN QUEUE LOG LONGEST-JOB-IN-MICROSECONDS
 */

declare(strict_types=1);

[, $dsn, $name, $log, $longest] = $argv;
$queue = new DelayQueue($name, $dsn);
while (true) {
    try {
        foreach (random_int(0, 2) === 0 ? $queue->reserveMany(3, 2) : array_filter([$queue->reserve(2)]) as $job) {
            file_put_contents($log, "$job->id $job->attempts\n", FILE_APPEND);
            usleep(random_int(0, (int) $longest));
            try {
                $job->ack();
            } catch (DelayQueue\LeaseLostException) {
                // It took too long: another has it, and will acknowledge it.
            }
        }
    } catch (DelayQueue\ConnectionException | DelayQueue\ServerException) {
        usleep(10_000);
    }
}
