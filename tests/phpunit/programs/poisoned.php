<?php

/**
 * Works until the queue gives nothing; the job 'poison' kills it. Each execution is a line in the log.
 *
 *     poisoned.php DSN QUEUE LOG
 */

declare(strict_types=1);

$queue = new DelayQueue($argv[2], $argv[1]);
while ($job = $queue->reserve(0.5)) {
    file_put_contents($argv[3], "$job->id\n", FILE_APPEND);
    if ($job->id === 'poison') {
        posix_kill(getmypid(), SIGKILL);
    }
    $job->ack();
}
