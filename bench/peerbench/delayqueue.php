<?php

require_once __DIR__ . '/_DelayQueue.php';

return [
    'label' => 'delayqueue', 'class' => 'DelayQueueDriver', 'server' => 'redis', 'batch_push' => true, 'batch_reserve' => true,
    'poll_ms' => 0, 'resolution_ms' => 1, 'ack' => true, 'unix' => true,
    'available' => fn () => class_exists('DelayQueue', false) ? null : 'extension not loaded',
];
