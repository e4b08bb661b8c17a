<?php

/** An exit, a fatal error or an exception in a handler ends the request of its thread and nothing else. */

declare(strict_types=1);

use DelayQueue\Job;

require __DIR__ . '/support.php';

ini_set('display_errors', '0');
ini_set('log_errors', '0');
ini_set('delayqueue.dsn', dsn());
$queue = new DelayQueue('errors-' . THREAD, null, ['readTimeout' => 20]);
$queue->push(1, maxAttempts: 5);
meet('begin');
$queue->consume(static function (Job $job): void {
    match (THREAD % 4) {
        0 => null,
        1 => exit(7),
        2 => trigger_error('the end', E_USER_ERROR),
        3 => throw new DelayQueue\Bury('set aside'),
    };
}, maxJobs: 1);
if (THREAD % 4 === 3) {
    expect(ROUND + 1, $queue->count(DelayQueue\State::Buried), 'buried jobs');
    throw new LogicException('nobody catches this');
}
$queue->purge();
for ($n = 0; $n < 200; $n++) {
    $queue->push($n);
    $queue->reserve()->ack();
}
