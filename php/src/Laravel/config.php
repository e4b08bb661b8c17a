<?php

/**
 * Settings beside the queue connection, all of them optional. `php artisan vendor:publish --tag=delayqueue-config` copies this file to
 * config/delayqueue.php. The connection itself is one of config/queue.php.
 */

declare(strict_types=1);

return [
    // The pages about queues, jobs and workers. They are closed until the gate viewDelayQueue lets people in.
    'dashboard' => [
        // Where it is, below the address of the application. null: nowhere.
        'path' => env('DELAYQUEUE_DASHBOARD_PATH', 'delayqueue'),
        'middleware' => ['web'],
        // The queue connection whose Redis, prefix and keys it has. null: the default one if it is of this driver, else the first that is.
        'connection' => null,
        // A connection of config/database.php that has the journal's table, or true for the default one. false: no journal is shown.
        'journal' => false,
    ],
];
