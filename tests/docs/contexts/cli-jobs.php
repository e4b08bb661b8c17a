<?php

/** Before each command of the page: orders that wait, one that is buried, and two queues without a job. */

$queue = new DelayQueue('orders');
if (!str_starts_with((string) getenv('COMMAND'), 'delayqueue push ')) {
    $queue->push(['order' => 4711], delay: '15m', id: 'order-4711', unique: '10m');
}
$queue->push(['order' => 4712], delay: '15m', id: 'order-4712');
$queue->push(['order' => 4713], id: 'order-4713', maxAttempts: 1);
$queue->reserve()->fail('no money');
$queue->push(['order' => 4714], id: 'order-4714');
(new DelayQueue())->push(['order' => 4715], id: 'order-4715');
foreach (['returns', 'refunds'] as $empty) {
    (new DelayQueue($empty))->push(1, id: 'gone');
    (new DelayQueue($empty))->cancel('gone');
}
$queue->pushOnce([['receipt' => 'load/0123456789abcdef']]);
file_put_contents('report.bin', random_bytes(100));
