--TEST--
lateness(), waitTime() and runTimes() are of the last hour; with sinceStart: true, of the queue's life
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Testing;
$queue = queue();
$queue->push('late');
Testing::travel('10m');
$queue->reserve()->fail('slow');
$queue->purge();
for ($n = 0; $n < 16; $n++) {
    Testing::travel('5m');
    $queue->push('prompt');
    $queue->close(); // a consumer that has just connected copies the counters
    $queue->reserve()->ack();
}
$stats = $queue->stats();
foreach (['lateness', 'waitTime'] as $times) {
    [$hour, $ever] = [$stats->$times(), $stats->$times(sinceStart: true)];
    var_dump($hour['count'] < 16, $ever['count'], $hour['p99'] < 60_000, $ever['p99'] > 300_000);
}
var_dump($stats->runTimes()['failed']['count'], $stats->runTimes(true)['failed']['count']);
$queue->purge();
?>
--INI--
delayqueue.testing=1
--EXPECT--
bool(true)
int(17)
bool(true)
bool(true)
bool(true)
int(17)
bool(true)
bool(true)
int(0)
int(1)
