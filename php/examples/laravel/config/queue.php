<?php

return [
    'default' => env('QUEUE_CONNECTION', 'delayqueue'),
    'connections' => [
        'sync' => ['driver' => 'sync'],
        // Nothing needs to stand here. All other settings have the defaults of the package.
        'delayqueue' => ['after_commit' => true, 'retry_after' => (int) env('QUEUE_RETRY_AFTER', 60)],
    ],
    'failed' => ['driver' => 'null'],
];
