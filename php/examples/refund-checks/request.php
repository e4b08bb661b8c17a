<?php

/**
 * Asks the payment provider for a refund and has its outcome checked: first after 15 s, then at growing intervals.
 *
 *     php request.php 4711
 */

declare(strict_types=1);

use DelayQueue\Backoff;
use DelayQueue\OnDuplicate;

if (!isset($argv[1])) {
    fwrite(STDERR, "usage: php request.php REFUND\n");
    exit(2);
}

$queue = new DelayQueue('refunds');
$queue->push(
    ['refund' => $argv[1]],
    delay: '15s',
    id: "refund-$argv[1]",
    ttr: '30s',
    maxAttempts: 10,
    backoff: Backoff::stages('3m 10m 30m 30m 1h 2h 6h 15h'),
    onDuplicate: OnDuplicate::Keep,
);
echo "refund $argv[1] will be checked\n";
