--TEST--
Stats::history() has the counters as they were every five minutes
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Testing;

$queue = queue();
var_dump($queue->stats()->history(), Testing::stats(['pushed' => 5])->history());
$began = $queue->now();
for ($n = 0; $n < 4; $n++) {
    $queue->push($n, id: "later-$n", delay: '1d');
    $queue->push($n);
    $queue->close(); // a consumer that has just connected copies the counters
    $job = $queue->reserve();
    match ($n) {
        0 => $job->ack(),
        1 => $job->fail('no'),
        2 => $job->release('1d'),
        3 => $job->bury(),
    };
    $n === 1 ? $queue->cancel('later-0') : null;
    Testing::travel('5m');
}
foreach ($queue->stats()->history() as $then) {
    printf("%d %s\n", round(($then['at'] - $began) / 60), json_encode(array_diff_key($then, ['at' => 0])));
}
var_dump(is_float($then['at']));
?>
--INI--
delayqueue.testing=1
--EXPECT--
array(0) {
}
array(0) {
}
5 {"pushed":4,"acked":1,"failed":0,"timedOut":0,"cancelled":0,"released":0,"buried":0}
10 {"pushed":6,"acked":1,"failed":1,"timedOut":0,"cancelled":1,"released":0,"buried":0}
15 {"pushed":8,"acked":1,"failed":1,"timedOut":0,"cancelled":1,"released":1,"buried":0}
bool(true)
