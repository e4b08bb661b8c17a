<?php

/** A job in hand. */

use DelayQueue\Worker\Progress;

require 'vendor/autoload.php';

$queue = new DelayQueue('imports');
$queue->push(['shop' => 'de'], id: 'import');
$job = $queue->reserve();
$pages = [1, 2, 3];

// The sample.

$info = $queue->peek('import');
if ($info->payload !== ['page' => 3, 'shop' => 'de'] || Progress::in($info)['share'] !== 1.0) {
    exit(1);
}
