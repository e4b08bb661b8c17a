<?php

/** A database of orders, and the job that the sample has to make of the open one. */

$db = new PDO('sqlite::memory:');
$db->exec("CREATE TABLE orders (id TEXT, state TEXT, placed_at TEXT);
    INSERT INTO orders VALUES ('order-1', 'open', '2030-01-01 12:00:00'), ('order-2', 'paid', '2030-01-01 12:00:00')");

// The sample.

$job = (new DelayQueue('orders'))->peek('order-1');
if (count($queue) !== 1 || $job?->dueAt !== (float) strtotime('2030-01-01 12:15:00 UTC')) {
    exit(1);
}
