<?php

/**
 * Reserves a job and forks; says what the child and then the parent can do with it.
 *
 *     fork_with_job.php DSN QUEUE
 */

declare(strict_types=1);

$queue = new DelayQueue($argv[2], $argv[1]);
$queue->push('payload');
$job = $queue->reserve();

$pid = pcntl_fork();
if ($pid === 0) {
    foreach (['ack', 'release', 'fail', 'bury', 'touch'] as $method) {
        try {
            $job->$method();
            echo "child $method: done\n";
        } catch (Throwable $e) {
            echo "child $method: ", $e::class, "\n";
        }
    }
    echo 'child ackMany: ', $queue->ackMany($job), "\n";
    echo 'child timeLeft: ', $job->timeLeft(), "\n";
    exit(0);
}
pcntl_waitpid($pid, $status);
echo 'child ended: ', $status, "\n";
echo 'parent holds: ', $job->timeLeft() > 0 && !$job->isLost() && !$job->isSettled() ? 'yes' : 'no', "\n";
$job->ack();
echo "parent ack: done\n";
