<?php

/** Two orders, and the function of a shop that closes them. The second one ends the worker. */

$queue = new DelayQueue('orders');
$queue->purge();
$queue->push(['order' => 4711]);
$queue->push(['order' => 4712]);
$closed = 0;

function closeIfUnpaid(int $order): void
{
    global $closed;
    if (++$closed === 2) {
        exit(count((new DelayQueue('orders'))) === 1 ? 0 : 1);
    }
}

// The sample.
