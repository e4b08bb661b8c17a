<?php

/** Before each command of the page: two delayed orders, of which the command may find one, and one that is buried. */

use DelayQueue\Search\Tags;

require 'vendor/autoload.php';

$queue = new DelayQueue('orders');
$queue->purge();
$queue->push(['order' => 4711], delay: '15m', id: 'order-4711', headers: Tags::of('tenant:42') + ['shop' => 'de']);
$queue->push(['order' => 4712], delay: '15m', id: 'order-4712');
$queue->push(['order' => 4713], id: 'order-4713', maxAttempts: 1);
$queue->reserve()->fail('Timeout: no answer');
