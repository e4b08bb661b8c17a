<?php

/** The connection `delayqueue` as it is without a word in config/queue.php; what stands there under this name goes before. */

declare(strict_types=1);

return [
    'driver' => 'delayqueue',
    // Host, port, password and TLS come from this connection of database.redis, unless dsn is set.
    'connection' => env('DELAYQUEUE_CONNECTION', 'default'),
    'dsn' => env('DELAYQUEUE_DSN'),
    // The beginning of all keys. null: the prefix that database.redis has (REDIS_PREFIX), and "dq".
    'prefix' => env('DELAYQUEUE_PREFIX'),
    'queue' => env('DELAYQUEUE_QUEUE', 'default'),
    // Seconds of the lease: how soon a dead worker is noticed. A living one renews it, so it may be short. A job gets it when it is pushed.
    'retry_after' => 60,
    // false: leases are not renewed, and retry_after is to be longer than the longest job, as with other drivers.
    'heartbeat' => true,
    // A worker waits for a job, and takes it when it falls due; every so many seconds it looks at queue:restart and the like.
    // null: every --sleep seconds; 0: it does not wait, it sleeps. A pop() of your own waits as long.
    'block_for' => 5,
    'after_commit' => false,
    // A connection of config/database.php, or true for the default one: jobs of its transactions are rows there, which become jobs at the commit.
    // It needs the migration (vendor:publish --tag=delayqueue-migrations) and delayqueue:relay.
    'outbox' => env('DELAYQUEUE_OUTBOX', false),
    // true: a failed job stays in Redis as well, buried with its reason, until queue:retry takes it or you remove it.
    'bury_failed' => false,
    // A job that RateLimited, WithoutOverlapping or ThrottlesExceptions releases uses up no try. A list of classes:
    // neither does one that these middleware release. false: it does, as with other drivers.
    'release_uncounted' => true,
    // Smaller is sooner; null: that of the extension.
    'priority' => null,
    // More options of the extension's constructor: keys, durability, partitions, connectTimeout …
    'options' => [],
];
