<?php

/**
 * Starts a batch with members in two queues, after a line on its standard input. Says "ready", and then "started", or "ended" where the batch had been started
 * before and has ended.
 *
 *     batch_start.php DSN NAME MEMBERS
 */

declare(strict_types=1);

use DelayQueue\Flow\Batch;

require dirname(__DIR__, 3) . '/php/autoload.php';

[, $dsn, $name, $members] = $argv;
$queue = new DelayQueue('one', $dsn, ['ttr' => 0.3, 'maxAttempts' => 0, 'readTimeout' => 10]);
$jobs = array_map(static fn (int $n): array => ['payload' => $n, 'id' => "$name-$n", 'queue' => $n % 2 === 0 ? 'one' : 'two'], range(1, (int) $members));
$queue->count();
echo "ready\n";
fgets(STDIN);
try {
    Batch::start($queue, $name, $jobs, then: ['payload' => $name, 'queue' => 'ends']);
    echo "started\n";
} catch (ValueError $error) {
    echo str_contains($error->getMessage(), 'has ended') ? "ended\n" : $error->getMessage();
}
