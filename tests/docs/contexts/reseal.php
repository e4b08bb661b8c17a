<?php

/** Before each command: a queue with a sealed job, under the older key of the file. */

$keys = [];
foreach (file('etc/queue.keys', FILE_IGNORE_NEW_LINES) as $line) {
    if (!str_starts_with($line, '#')) {
        [$id, $key] = explode(' ', $line);
        $keys[$id] = "base64:$key";
    }
}
(new DelayQueue('orders', options: ['keys' => array_slice($keys, 1)]))->push(['order' => 4711]);
