<?php

/**
 * Every call a few times, on Redis and in memory, for valgrind; see tests/valgrind.sh.
 *
 *     php -d extension=… tests/valgrind.php DSN
 */

declare(strict_types=1);

use DelayQueue\Testing;
use DelayQueue\Tests\Support\EveryCall;

require __DIR__ . '/phpunit/support/bootstrap.php';

ini_set('delayqueue.testing', '1');
$made = 0;
foreach ([$argv[1], 'memory://'] as $dsn) {
    foreach ((new EveryCall($dsn))->all() as $call) {
        for ($n = 0; $n < 3; $n++) {
            $call();
            $made++;
        }
    }
    Testing::travelBack();
}

// Forks, signals and what is left over at the end of a process.
$queue = new DelayQueue('calls', $argv[1], ['readTimeout' => 20]);
$queue->push('kept');
$GLOBALS['kept'] = $queue->reserve();
pcntl_async_signals(true);
pcntl_signal(SIGALRM, static function () use ($queue): void {
    $queue->push('from a handler', id: 'handler');
    throw new RuntimeException('out of the wait');
});
pcntl_alarm(1);
try {
    (new DelayQueue('empty', $argv[1], ['readTimeout' => 20]))->reserve(30);
} catch (RuntimeException $e) {
    $queue->cancel('handler');
    $made++;
}
echo "$made calls made\n";
