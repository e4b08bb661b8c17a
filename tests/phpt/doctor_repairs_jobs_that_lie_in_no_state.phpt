--TEST--
doctor(): says that jobs lie in no state, and doctor(repair: true) buries those whose due time is lost
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$key = 'dq:{' . basename(__FILE__, '.php') . '}:waiting';
$jobs = fn (array $checks): string => implode(', ', array_map(fn ($check) => "$check[level]", array_filter($checks, fn ($check) => $check['check'] === 'jobs')));
$queue->pushMany([['payload' => 'a', 'id' => 'a'], ['payload' => 'b', 'id' => 'b']]);
echo $jobs($queue->doctor()), "\n";
redis('ZREM', $key, 'a');
echo $jobs($queue->doctor()), ', ', count($queue), " in a state\n";
echo $jobs($queue->doctor(repair: true)), ', ', count($queue), " in a state\n";
echo $jobs($queue->doctor()), "\n";
foreach ($queue->reserveMany(5) as $job) echo $job->id, ' ', $job->payload, "\n";
foreach ($queue->list(DelayQueue\State::Buried) as $job) echo $job->id, ' ', $job->payload, ': ', $job->lastError, "\n";
caught(fn () => $queue->doctor([]));
?>
--EXPECT--
ok
error, 1 in a state
warn, 2 in a state
ok
b b
a a: found in no state: its due time is lost
TypeError: DelayQueue::doctor(): Argument #1 ($repair) must be of type bool, array given
