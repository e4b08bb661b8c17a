<?php

/**
 * A loop around reserve() on the list of workers. Says what happens, line by line: 'enlisted', 'heard ORDER', 'did ID'.
 *
 *     own_loop.php DSN QUEUE
 */

declare(strict_types=1);

use DelayQueue\WorkerOrder;

[, $dsn, $name] = $argv;
$queue = new DelayQueue($name, $dsn, ['readTimeout' => 10]);
$enlisted = $queue->enlist('own');
echo "enlisted\n";
for ($heard = null; !in_array($heard, [WorkerOrder::Stop, WorkerOrder::Restart], true);) {
    $job = $queue->reserve(0.5);
    if ($job !== null) {
        $job->ack();
        echo "did $job->id\n";
    }
    $order = $enlisted->order();
    if ($order !== $heard) {
        $heard = $order;
        echo 'heard ', $order->name ?? 'Resume', "\n";
    }
}
