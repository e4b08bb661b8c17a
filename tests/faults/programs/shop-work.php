<?php

/**
 * Closes orders, and says so in a log of its own, a line each: slot, n, token, attempt, microseconds since 1970 when it was reserved.
 *
 *     shop-work.php SETTINGS
 */

declare(strict_types=1);

use DelayQueue\Job;
use DelayQueue\Tests\Faults\Support\ShopSettings;

require dirname(__DIR__) . '/support/bootstrap.php';

$settings = ShopSettings::parse($argv[1]);
$log = fopen("$settings->folder/runs." . getmypid(), 'a');
$settings->queue()->consume(static function (Job $job) use ($log): void {
    ['slot' => $slot, 'n' => $n, 'token' => $token] = $job->payload;
    fwrite($log, "$slot $n $token $job->attempts " . (int) round($job->reservedAt * 1e6) . "\n");
}, prefetch: 16);
