<?php

return [
    'default' => 'sqlite',
    'connections' => ['sqlite' => ['driver' => 'sqlite', 'database' => base_path('database.sqlite'), 'prefix' => '', 'foreign_key_constraints' => true]],
    'migrations' => 'migrations',
    'redis' => [
        'client' => 'phpredis',
        'options' => ['prefix' => getenv('TEST_REDIS_PREFIX') ?: 'test_'],
        'clusters' => json_decode(getenv('TEST_REDIS_CLUSTERS') ?: '[]', true),
        'default' => ['host' => getenv('TEST_REDIS_SOCKET'), 'port' => 0, 'database' => 0],
    ],
];
