--TEST--
Order: priority, then due time, then push order; watched queues one after the other
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->pushMany([
    ['payload' => 'a'], ['payload' => 'b'], ['payload' => 'late', 'priority' => 5000], ['payload' => 'past', 'delay' => new DateTime('@1')],
    ['payload' => 'first', 'priority' => 0], ['payload' => 'c'],
]);
$other = queue(suffix: '.urgent');
$other->push('urgent', priority: 9000);
$queue->watch($other->peekReady()->queue, basename(__FILE__, '.php'), basename(__FILE__, '.php'));
while ($job = $queue->reserve()) {
    echo $job->payload, '@', strrchr($job->queue, '.') ?: 'own', ' ';
    $job->ack();
}
echo "\n";
foreach (range(1, 1200) as $n) $jobs[] = ['payload' => $n];
$ids = $queue->pushMany($jobs);
$seen = [];
while ($batch = $queue->reserveMany(400)) {
    foreach ($batch as $job) $seen[] = $job->payload;
    $done = ($done ?? 0) + $queue->ackMany(...$batch);
}
var_dump(count($ids) === count(array_unique($ids)), $seen === range(1, 1200), $done);
?>
--EXPECT--
urgent@.urgent first@own past@own a@own b@own c@own late@own 
bool(true)
bool(true)
int(1200)
