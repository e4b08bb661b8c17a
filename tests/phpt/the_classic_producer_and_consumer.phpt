--TEST--
producer() replaces by id; consumer() takes what is due, oldest first
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$now = time();
var_dump($queue->producer('order:1', $now - 10, ['n' => 1]), $queue->producer('order:2', $now - 20.5, ['n' => 2]));
$queue->producer('order:3', $now + 3600, ['n' => 3]);
$queue->producer('order:1', $now - 30, ['n' => 'again']);
var_dump(count($queue), $queue->peek('order:2')->dueAt === $now - 20.5);
echo json_encode($queue->consumer($now - 20.5)), "\n";
echo json_encode($queue->consumer()), json_encode($queue->consumer()), "\n";
echo json_encode($queue->consumer($now + 7200)), count($queue), "\n";
foreach (range(1, 12) as $n) $queue->producer("n$n", $n, [$n]);
echo json_encode($queue->consumer()), json_encode($queue->consumer(limit: 1)), json_encode($queue->consumer(null, 5)), "\n";
$queue->producer('held', 1, []);
$job = $queue->reserve();
caught(fn() => $queue->producer('held', 1, []));
$job->ack();
$raw = queue(['format' => 'raw']);
$raw->pushMany([['payload' => '[1]'], ['payload' => 'not json'], ['payload' => '2']]);
set_error_handler(function (int $level, string $message) { echo $level === E_WARNING ? 'warning' : $level, ": $message\n"; });
echo json_encode($queue->consumer()), "\n";
?>
--EXPECT--
bool(true)
bool(true)
int(3)
bool(true)
[{"n":"again"},{"n":2}]
[][]
[{"n":3}]0
[[1],[2],[3],[4],[5],[6],[7],[8],[9],[10]][[11]][[12]]
DelayQueue\DuplicateJobException: job 'held' is already in queue 'the_classic_producer_and_consumer'
warning: DelayQueue::consumer(): A payload is not valid JSON: Syntax error
[[1],"not json",2]
