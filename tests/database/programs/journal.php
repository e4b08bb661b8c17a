<?php

/** A worker with a journal: journal.php DSN USER PASSWORD REDIS BATCH AT-MOST. It names each job. */

declare(strict_types=1);

use DelayQueue\Database\Journal;

require dirname(__DIR__) . '/bootstrap.php';

[, $dsn, $user, $password, $redis, $batch, $atMost] = $argv;
$open = static fn (): PDO => new PDO($dsn, $user ?: null, $password ?: null, [PDO::ATTR_ERRMODE => PDO::ERRMODE_EXCEPTION, PDO::ATTR_TIMEOUT => 30]);
$queue = new DelayQueue('orders', $redis);
(new Journal($open, batch: (int) $batch, atMost: (float) $atMost, payloads: true))->watch($queue);
$queue->consume(static function (DelayQueue\Job $job): void {
    echo "$job->id\n";
}, idleTimeout: 10);
