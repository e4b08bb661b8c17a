--TEST--
Stats, lateness and the Prometheus page
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->pushMany([['payload' => 1], ['payload' => 2], ['payload' => 3, 'delay' => '1h'], ['payload' => 4, 'id' => 'c']]);
$queue->reserve()->ack();
$queue->reserve()->bury('why');
$queue->cancel('c');
$stats = $queue->stats();
var_dump($stats->oldestReadyAge, abs($stats->nextDueAt - microtime(true) - 3600) < 2, array_keys($stats->lateness()), $stats->lateness()['count']);
echo preg_replace(['/(next_due_timestamp_seconds{.*}) .*/', '/(quantile="[0-9.]+"}) .*/'], '$1 *', $stats->toPrometheus());
echo preg_replace('/float\(\d.*\)/', 'float(*)', print_r($stats, true));
$queue->push(5);
var_dump($queue->stats()->oldestReadyAge >= 0);
$queue->purge();
?>
--EXPECT--
