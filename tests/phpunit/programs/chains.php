<?php

/**
 * A worker that handles links of chains and writes into the file LOG: "begin ID", "end ID RESULT" with the number that the link before has returned.
 *
 * Usage: chains.php DSN LOG PARTITIONS PREFETCH QUEUE…
 */

declare(strict_types=1);

use DelayQueue\Flow\Chain;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;

require __DIR__ . '/../../../php/autoload.php';

[, $dsn, $log, $partitions, $prefetch] = $argv;
$queues = array_slice($argv, 5);
$queue = new DelayQueue($queues[0], $dsn, ['partitions' => (int) $partitions, 'readTimeout' => 10]);
$queue->watch(...$queues)->consume(new Follow(static function (JobInterface $job) use ($log): int {
    file_put_contents($log, "begin $job->id\n", FILE_APPEND | LOCK_EX);
    $result = (int) Chain::result($job);
    usleep(random_int(0, 10_000));
    file_put_contents($log, "end $job->id $result\n", FILE_APPEND | LOCK_EX);

    return $result + 1;
}), prefetch: (int) $prefetch);
