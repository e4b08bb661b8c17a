--TEST--
format 'raw': any bytes, and nothing but a string
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue(['format' => 'raw']);
$all = implode('', array_map('chr', range(0, 255)));
$wrong = [];
foreach (['', '0', "\0", "\xff\xfe", $all, '{"json":', '{"a":"b","c":"d"}', "\1", "\2\3", "\2", str_repeat($all, 4096)] as $bytes) {
    $id = $queue->push($bytes);
    $info = $queue->peek($id);
    $job = $queue->reserve();
    array_push($wrong, ...array_filter([$info->payload, $info->body, $job->payload, $job->body], fn($found) => $found !== $bytes));
    $job->ack();
}
var_dump($wrong);
foreach ([1, 1.5, true, null, [], new stdClass, new class { function __toString() { return 's'; } }] as $value) {
    caught(fn() => $queue->push($value));
}
caught(fn() => $queue->update('id', 1));
caught(fn() => $queue->pushMany([['payload' => 1]]));
caught(fn() => $queue->producer('id', 1, []));
$queue->pushMany([['payload' => "\0a"], ['payload' => "\0b"]]);
var_dump($queue->consumer() === ["\0a", "\0b"], count($queue));
?>
--EXPECT--
array(0) {
}
TypeError: DelayQueue::push(): Argument #1 ($payload) must be of type string, int given
TypeError: DelayQueue::push(): Argument #1 ($payload) must be of type string, float given
TypeError: DelayQueue::push(): Argument #1 ($payload) must be of type string, bool given
TypeError: DelayQueue::push(): Argument #1 ($payload) must be of type string, null given
TypeError: DelayQueue::push(): Argument #1 ($payload) must be of type string, array given
TypeError: DelayQueue::push(): Argument #1 ($payload) must be of type string, stdClass given
TypeError: DelayQueue::push(): Argument #1 ($payload) must be of type string, class@anonymous given
TypeError: DelayQueue::update(): Argument #2 ($payload) must be of type string, int given
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 0: "payload" must be of type string, int given
TypeError: DelayQueue::producer(): Argument #3 ($message) must be of type string, array given
bool(true)
int(0)
