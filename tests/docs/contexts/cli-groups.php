<?php

/** Before each command of the page: two groups with jobs, one of them limited and closed. */

use DelayQueue\GroupLimits;

$queue = new DelayQueue('orders');
foreach (['tenant-42', 'tenant-42', 'tenant-7'] as $group) {
    $queue->push(['order' => 4712], group: $group);
}
$queue->limitGroups('tenant-42', new GroupLimits(concurrency: 1));
$queue->pause('1h', 'tenant-42');
