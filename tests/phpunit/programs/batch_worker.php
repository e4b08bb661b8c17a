<?php

/**
 * Works for ever. Each execution of a member of a batch is a line in the file "runs" of the folder, its id, written before the handler returns. A job that a
 * batch pushes at its end becomes a line in the file "ends": its payload, and how many members of that name have run until then. Each hundredth member of
 * the queue "two" adds another one.
 *
 *     batch_worker.php DSN QUEUES PARTITIONS FOLDER
 */

declare(strict_types=1);

use DelayQueue\Flow\Batch;
use DelayQueue\Flow\Follow;
use DelayQueue\Job;

require dirname(__DIR__, 3) . '/php/autoload.php';

[, $dsn, $queues, $partitions, $folder] = $argv;
$queues = explode(',', $queues);
$queue = new DelayQueue($queues[0], $dsn, ['partitions' => (int) $partitions, 'readTimeout' => 10]);
$queue->watch(...$queues)->consume(new Follow(static function (Job $job, DelayQueue $queue) use ($folder): void {
    if ($job->queue !== 'ends') {
        usleep(500);
        // Each hundredth adds another one.
        if ($job->queue === 'two' && $job->payload % 100 === 0) {
            Batch::of($queue, $job->headers[Batch::HEADER])->add([['payload' => 1, 'id' => "$job->id-more", 'ttr' => 0.3, 'maxAttempts' => 0]]);
        }
        file_put_contents("$folder/runs", "$job->id\n", FILE_APPEND);

        return;
    }
    $runs = array_filter(array_unique(file("$folder/runs", FILE_IGNORE_NEW_LINES)), static fn (string $id): bool => str_starts_with($id, "$job->payload-"));
    file_put_contents("$folder/ends", "$job->payload " . count($runs) . "\n", FILE_APPEND);
}), prefetch: 5);
