<?php

/** The queue of the page, and another Redis in place of the new host. */

require 'vendor/autoload.php';

(new DelayQueue('orders'))->purge();
(new DelayQueue('orders'))->push(['order' => 4711], delay: '15m', id: 'order-4711');
(new DelayQueue('orders', 'redis://new-host:6379/0'))->purge();
(new DelayQueue('orders'))->pause();

// The sample.

if ((new DelayQueue('orders', 'redis://new-host:6379/0'))->peek('order-4711')?->payload !== ['order' => 4711]) {
    exit(1);
}
