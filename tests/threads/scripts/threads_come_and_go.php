<?php

/** A thread that ends takes its connections, its keeper and its memory with it, whether or not it has tidied up. */

declare(strict_types=1);

require __DIR__ . '/support.php';

ini_set('delayqueue.dsn', dsn());
$queue = new DelayQueue('come-and-go', null, ['readTimeout' => 20]);
$queue->pushMany(array_map(static fn (int $n): array => ['payload' => str_repeat('x', 1000)], range(1, 20)));
$queue->reserve(1)?->keepAlive();
foreach ($queue->reserveMany(10) as $job) {
    $job->ack();
}
$queue->consume(static fn () => true, maxJobs: 5, timeout: '10s');
$kept = $queue->reserve();
$kept?->keepAlive();
