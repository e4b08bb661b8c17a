<?php

/**
 * Has a receiver notified that an order was paid: at once, and again on the schedule until it answers 2xx.
 *
 *     php push.php 4711 http://127.0.0.1:8081/
 */

declare(strict_types=1);

use DelayQueue\Http\Schedule;
use DelayQueue\OnDuplicate;

require __DIR__ . '/../../autoload.php';

[, $order, $url] = $argv + [1 => null, 2 => null];
if ($url === null) {
    fwrite(STDERR, "usage: php push.php ORDER URL\n");
    exit(2);
}

$queue = new DelayQueue('notify');
$queue->push(
    ['url' => $url, 'body' => ['event' => 'paid', 'order' => $order]],
    ...Schedule::stages(),
    id: "paid-$order", // by which the receiver knows a repetition
    onDuplicate: OnDuplicate::Keep,
);
echo "paid-$order will be posted\n";
