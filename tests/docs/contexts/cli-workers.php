<?php

/** Before each command: a worker of the queue orders at web1, as its entry shows it. */

$redis = new Redis();
$redis->connect((string) getenv('SESSION_SOCKET'));
$entry = [
    'host' => 'web1', 'pid' => 4711, 'kind' => 'worker', 'version' => DelayQueue::VERSION, 'state' => 'working', 'queues' => ['orders', 'refunds'],
    'job' => ['queue' => 'orders', 'id' => 'order-4711', 'ms' => 4200], 'memory' => 35_000_000, 'up_ms' => 7_800_000, 'listed_ms' => 28_000,
];
$redis->rawCommand('SET', 'dq:{#workers}:0123456789abcdef', json_encode($entry)) || exit(1);
$redis->rawCommand('ZADD', 'dq:{#workers}:index', (string) time(), '0123456789abcdef');
