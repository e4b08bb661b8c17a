<?php

/**
 * Makes every call in a loop that is hot enough to be compiled, and does work whose results it checks.
 *
 *     compiled.php DSN
 */

declare(strict_types=1);

use DelayQueue\Tests\Support\EveryCall;

require dirname(__DIR__) . '/support/bootstrap.php';

echo 'compiled: ', opcache_get_status(false)['jit']['on'] ? 'yes' : 'no', "\n";

foreach ((new EveryCall($argv[1]))->all() as $name => $call) {
    $rounds = str_contains($name, 'waiting') ? 20 : 70;
    for ($n = 0; $n < $rounds; $n++) {
        $call();
    }
}
DelayQueue\Testing::travelBack();

$queue = new DelayQueue('compiled', $argv[1], ['readTimeout' => 20]);
for ($n = 0, $sum = 0; $n < 500; $n++) {
    $queue->push(['n' => $n], delay: $n % 2 ? 0 : 0.0, ttr: $n % 3 ? 30 : '30s');
    $job = $queue->reserve();
    if ($job === null || $job->payload !== ['n' => $n] || $job->ttr !== 30.0 || $job->attempts !== 1) {
        echo "job $n is wrong\n";
        exit(1);
    }
    try {
        $job->release('never');
    } catch (ValueError) {
        $sum += $job->payload['n'];
    }
    $job->ack();
}
echo $sum === 124_750 && count($queue) === 0 ? "done\n" : "wrong sum $sum\n";
