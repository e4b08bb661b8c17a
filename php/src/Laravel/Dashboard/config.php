<?php

/** The dashboard as it is without a word in config/delayqueue.php, whose key dashboard goes before. */

declare(strict_types=1);

return [
    // Where it is, below the address of the application. null: nowhere.
    'path' => env('DELAYQUEUE_DASHBOARD_PATH', 'delayqueue'),
    'middleware' => ['web'],
    // The queue connection whose Redis, prefix and keys it has. null: the default one if it is of this driver, else the first that is.
    'connection' => null,
    // A connection of config/database.php that has the journal's table, or true for the default one. false: no journal is shown.
    'journal' => false,
];
