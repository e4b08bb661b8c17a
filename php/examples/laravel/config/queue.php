<?php

return [
    'default' => env('QUEUE_CONNECTION', 'delayqueue'),
    'connections' => [
        'sync' => ['driver' => 'sync'],
        // Jobs of a transaction are rows of the default database connection. All other settings have the defaults of the package.
        'delayqueue' => ['outbox' => true, 'retry_after' => (int) env('QUEUE_RETRY_AFTER', 60)],
    ],
    'failed' => ['driver' => 'null'],
];
