--TEST--
ackMany(): jobs of queues of one name in other databases, prefixes and servers each reach their own
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$name = basename(__FILE__, '.php');
$dsn = getenv('DELAYQUEUE_TEST_DSN');
$queues = [
    new DelayQueue($name, $dsn), new DelayQueue($name, "$dsn?db=3"), new DelayQueue($name, $dsn, ['prefix' => 'other']),
    new DelayQueue($name, $dsn, ['readTimeout' => 5]),
];
$jobs = [];
foreach ($queues as $n => $queue) {
    $queue->pushMany([['payload' => $n], ['payload' => $n]]);
    array_push($jobs, ...$queue->reserveMany(2));
}
shuffle($jobs);
echo $queues[0]->ackMany(...$jobs), ' of ', count($jobs), ', left: ', implode(' ', array_map(count(...), $queues)), "\n";
var_dump(array_unique(array_map(fn ($job) => $job->isSettled() && !$job->isLost(), $jobs)));
echo $queues[0]->ackMany(...$jobs), " again\n";

echo "-- one of them was cancelled, one is held twice\n";
foreach ($queues as $queue) $queue->push(1, id: 'job-' . spl_object_id($queue));
$jobs = array_map(fn ($queue) => $queue->reserve(), $queues);
$queues[1]->cancel($jobs[1]->id);
echo $queues[2]->ackMany(...$jobs, ...$jobs), "\n";
var_dump($jobs[1]->isLost(), $jobs[1]->isSettled());
?>
--EXPECT--
8 of 8, left: 0 0 0 0
array(1) {
  [0]=>
  bool(true)
}
0 again
-- one of them was cancelled, one is held twice
3
bool(true)
bool(false)
