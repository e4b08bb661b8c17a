<?php

/** A database with the tables. */

use DelayQueue\Database\Schema;

require getenv('CONTEXTS') . '/shared/symfony.php';

$parameters = ['driver' => 'pdo_sqlite', 'path' => getcwd() . '/dbal.sqlite'];
Schema::install(new PDO('sqlite:' . $parameters['path']));

// The sample.

$jobs = (new DelayQueue('orders'))->list(DelayQueue\State::Delayed);
if (!in_array(['order' => 4711], array_column($jobs, 'payload'), false)) {
    exit(1);
}
