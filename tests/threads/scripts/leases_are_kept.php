<?php

/** The thread that keeps leases belongs to one PHP thread, and sees the time as that one does. */

declare(strict_types=1);

use DelayQueue\Testing;

require __DIR__ . '/support.php';

ini_set('delayqueue.dsn', dsn());
ini_set('delayqueue.testing', '1');
Testing::travelBack();
Testing::travel(THREAD * 3600);
$queue = new DelayQueue('kept-' . THREAD, null, ['ttr' => 1, 'readTimeout' => 20]);
$queue->push(THREAD, maxAttempts: 1);
$job = $queue->reserve();
$job->keepAlive();
meet('reserved');
// Some end their request while the others' leases go on.
if (THREAD % 4 === 3) {
    Testing::travelBack();
    return;
}
$end = microtime(true) + 2.5;
while (($left = $end - microtime(true)) > 0) {
    usleep((int) ($left * 1e6));
}
expect(false, $job->isLost(), 'the lease is lost');
expect(THREAD, $job->payload, 'the payload');
$job->ack();
expect(0, $queue->count(), 'jobs left');
Testing::travelBack();
