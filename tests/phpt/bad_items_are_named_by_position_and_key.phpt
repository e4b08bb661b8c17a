--TEST--
pushMany() names the position and the key of what is wrong, and sends nothing
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = offline();
$good = ['payload' => 1];
foreach ([
    'x', null, [], ['delay' => 1], ['payload' => 1, 'dely' => 1], ['payload' => 1, 7 => 1], ['payload' => 1, "\xff" => 1],
    ['payload' => 1, 'delay' => -1], ['payload' => 1, 'delay' => null], ['payload' => 1, 'delay' => []],
    ['payload' => 1, 'id' => ''], ['payload' => 1, 'id' => []], ['payload' => 1, 'priority' => -1],
    ['payload' => 1, 'priority' => 'high'], ['payload' => 1, 'ttr' => 0], ['payload' => 1, 'maxAttempts' => 1.5e10],
    ['payload' => 1, 'backoff' => '5s'], ['payload' => 1, 'timeout' => 'soon'], ['payload' => 1, 'onDuplicate' => 'keep'],
    ['payload' => NAN], ['payload' => "\xff"], ['payload' => fn() => 1],
] as $bad) {
    caught(fn() => $queue->pushMany([$good, 'named' => $good, $bad]));
}
caught(fn() => $queue->pushMany((function () use ($good) { yield $good; yield 'k' => ['payload' => 1, 'ttr' => 'x']; })()));
echo "-- nothing to send needs no connection\n";
var_dump($queue->pushMany([]), $queue->pushMany(new ArrayIterator([])), $queue->cancel(), $queue->ackMany());
?>
--EXPECT--
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2 must be of type array, string given
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2 must be of type array, null given
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "payload" must be given
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "payload" must be given
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2 has the unknown key "dely"; did you mean 'delay'?
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2 has the unknown key "7"; there are 'payload', 'delay', 'id', 'priority', 'ttr', 'maxAttempts', 'backoff', 'timeout', 'onDuplicate', 'headers', 'unique', 'maxWait', 'expires', 'onExpiry', 'retryUntil', 'group' and 'extras'
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2 has the unknown key "�"; there are 'payload', 'delay', 'id', 'priority', 'ttr', 'maxAttempts', 'backoff', 'timeout', 'onDuplicate', 'headers', 'unique', 'maxWait', 'expires', 'onExpiry', 'retryUntil', 'group' and 'extras'
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "delay" must be greater than or equal to 0
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "delay" must be of type DateInterval|DateTimeInterface|string|int|float, null given
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "delay" must be of type DateInterval|DateTimeInterface|string|int|float, array given
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "id" must be between 1 and 200 bytes long
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "id" must be of type ?string, array given
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "priority" must be between 0 and 4294967295
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "priority" must be of type ?int, string given
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "ttr" must be between 0.1 seconds and 30 days
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "maxAttempts" must be between 0 and 4294967295
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "backoff" must be of type ?DelayQueue\Backoff, string given
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "timeout" must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 2: "onDuplicate" must be of type DelayQueue\OnDuplicate, string given
DelayQueue\PayloadException: item 2: Inf and NaN cannot be JSON encoded
DelayQueue\PayloadException: item 2: Malformed UTF-8 characters, possibly incorrectly encoded
DelayQueue\PayloadException: item 2: A Closure cannot be a payload
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 1: "ttr" must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
-- nothing to send needs no connection
array(0) {
}
array(0) {
}
int(0)
int(0)
