<?php

/**
 * Closes orders, and says so in a log of its own, a line each: slot, n, token, run, microseconds since 1970 when it was reserved.
 * An attempt that did not count, because its job was leased behind another one, is a run all the same.
 * With a journal the effect is a row of "effects".
 *
 *     shop-work.php SETTINGS
 */

declare(strict_types=1);

use DelayQueue\Database\Inbox;
use DelayQueue\Database\Journal;
use DelayQueue\Job;
use DelayQueue\Tests\Faults\Support\ShopSettings;

require dirname(__DIR__) . '/support/bootstrap.php';

$settings = ShopSettings::parse($argv[1]);
$log = fopen("$settings->folder/runs." . getmypid(), 'a');
$queue = $settings->queue();
$inbox = $settings->journal ? new Inbox($settings->pdo(...)) : null;
$settings->journal && (new Journal($settings->pdo(...), $settings->queue(...), 50, 0.3, report: static fn () => null))->watch($queue);
$queue->consume(static function (Job $job) use ($log, $inbox): void {
    ['slot' => $slot, 'n' => $n, 'token' => $token] = $job->payload;
    $run = max($job->attempts, $job->timeouts + 1);
    fwrite($log, "$slot $n $token $run " . (int) round($job->reservedAt * 1e6) . "\n");
    $inbox?->once($job, static fn (PDO $pdo) => $pdo->prepare('INSERT INTO effects (slot, n) VALUES (?, ?)')->execute([$slot, $n]));
}, prefetch: 16);
