<?php

return [
    'default' => 'sqlite',
    'connections' => [
        'sqlite' => ['driver' => 'sqlite', 'database' => base_path('database.sqlite'), 'prefix' => '', 'foreign_key_constraints' => true],
        // A test of the outbox names another database in TEST_DATABASE. Its table prefix does not apply to the outbox.
        'shop' => json_decode(getenv('TEST_DATABASE') ?: '[]', true)
            + ['driver' => 'sqlite', 'database' => base_path('database.sqlite'), 'charset' => 'utf8mb4', 'prefix' => 'shop_'],
        'other' => ['driver' => 'sqlite', 'database' => ':memory:', 'prefix' => ''],
    ],
    'migrations' => 'migrations',
    'redis' => [
        'client' => 'phpredis',
        'options' => ['prefix' => getenv('TEST_REDIS_PREFIX') ?: 'test_'],
        'clusters' => json_decode(getenv('TEST_REDIS_CLUSTERS') ?: '[]', true),
        'default' => ['host' => getenv('TEST_REDIS_SOCKET'), 'port' => 0, 'database' => 0],
    ],
];
