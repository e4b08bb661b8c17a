<?php

/** A handler that takes too long is ended in its thread; the handlers of other threads sleep on. */

declare(strict_types=1);

use DelayQueue\Event;
use DelayQueue\Job;

require __DIR__ . '/support.php';

ini_set('delayqueue.dsn', dsn());
$queue = new DelayQueue('limited-' . THREAD, null, ['readTimeout' => 20]);
$queue->push(1, maxAttempts: 1);
$timedOut = 0;
$queue->on(Event::TimedOut, static function () use (&$timedOut): void {
    $timedOut++;
});
$isLimited = THREAD % 2 === 0;
$slept = null;
meet('begin');
$queue->consume(static function (Job $job) use ($isLimited, &$slept): void {
    $began = microtime(true);
    $whole = usleep(1_500_000);
    $slept = microtime(true) - $began;
    while ($isLimited) {
        // for ever
    }
}, maxJobs: 1, timeout: $isLimited ? '300ms' : 0, graceTimeout: '30s');
expect($isLimited ? 1 : 0, $timedOut, 'timeouts of this thread');
expect(!$isLimited, $slept !== null && $slept >= 1.5, 'a sleep of 1.5 s that nobody ended');
