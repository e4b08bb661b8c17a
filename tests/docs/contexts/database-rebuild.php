<?php

/** Before each command: a journal in shop.sqlite that knows a job of the queue orders. */

require 'vendor/autoload.php';

use DelayQueue\Database\Journal;
use DelayQueue\Database\Schema;

$pdo = new PDO('sqlite:shop.sqlite');
Schema::install($pdo, jobs: true);
$queue = new DelayQueue('orders');
$queue->push(['order' => 4711], id: 'order-4711');
(new Journal($pdo))->watch($queue)->drain(static fn () => null);
