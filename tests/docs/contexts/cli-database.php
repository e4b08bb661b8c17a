<?php

/** Before each command: the tables, a job that waits in the outbox, and one of the journal that has failed. */

require 'vendor/autoload.php';

use DelayQueue\Database\Journal;
use DelayQueue\Database\Outbox;
use DelayQueue\Database\Schema;

@unlink('shop.db');
$pdo = new PDO((string) getenv('DELAYQUEUE_DATABASE'));
Schema::install($pdo, jobs: true);
(new Outbox($pdo))->push('orders', new DelayQueue\NewJob(['order' => 4712], delay: '15m', id: 'order-4712'));
$queue = new DelayQueue('orders');
$queue->push(['order' => 4711], id: 'order-4711', maxAttempts: 1);
(new Journal($pdo, payloads: true))->watch($queue)->drain(static fn () => throw new RuntimeException('no money'));
