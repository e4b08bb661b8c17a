<?php

require_once __DIR__ . '/_DelayQueue.php';

return [
    'label' => 'delayqueue-prefetch', 'opt' => ['prefetch' => 64],
    'only' => ['consume1', 'consume2', 'consumeN', 'bigdue'], 'class' => 'DelayQueueDriver', 'server' => 'redis', 'batch_push' => true, 'batch_reserve' => true,
    'poll_ms' => 0, 'resolution_ms' => 1, 'ack' => true, 'unix' => true,
    'available' => fn () => class_exists('DelayQueue', false) ? null : 'extension not loaded',
];
