--TEST--
A queue may be spread over partitions
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$options = ['partitions' => 4];
$queue = queue($options);
$ids = $queue->pushMany(array_map(fn (int $n) => ['payload' => $n, 'id' => "order-$n"], range(1, 20)));
echo count($ids), ' ', $ids[0], ' ', $ids[19], ' ', count($queue), ' ', $queue->partitions(), "\n";
$sum = 0;
foreach ($queue->reserveMany(3) as $job) {
    $sum += $job->payload;
    $job->ack();
}
$queue->consume(function ($job) use (&$sum) {
    $sum += $job->payload;
}, stopWhenEmpty: true, prefetch: 4);
echo $sum, ' ', count($queue), "\n";
$queue->push('later', delay: 60, id: 'x');
var_dump($queue->peek('x')->payload, $queue->cancel('x', 'y'));
try {
    queue(['durability' => 'replica', 'readTimeout' => 2], '-safe')->push(1, id: 'a');
} catch (DelayQueue\ConnectionException $error) {
    echo $error->getMessage(), "\n";
    var_dump($error->ambiguous);
}
?>
--EXPECT--
20 order-1 order-20 20 4
210 0
string(5) "later"
int(1)
pushing job 'a' to queue 'a_queue_may_be_spread_over_partitions-safe': Redis has done it, so that the job may be there, but no replica has it yet: it is lost if this server fails now
bool(true)
