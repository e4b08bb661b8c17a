<?php

return [
    'default' => 'delayqueue',
    'connections' => [
        'sync' => ['driver' => 'sync'],
        'redis' => ['driver' => 'redis', 'connection' => 'default', 'queue' => 'default', 'retry_after' => 90, 'block_for' => null],
        // Each test says in TEST_QUEUE what it wants other than the defaults.
        'delayqueue' => ['driver' => 'delayqueue'] + json_decode(getenv('TEST_QUEUE') ?: '[]', true),
    ],
    'batching' => ['database' => 'sqlite', 'table' => 'job_batches'],
    'failed' => ['driver' => 'database-uuids', 'database' => 'sqlite', 'table' => 'failed_jobs'],
];
