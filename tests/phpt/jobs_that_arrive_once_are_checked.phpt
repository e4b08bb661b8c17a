--TEST--
pushOnce() names the position and the key of what is wrong, and sends nothing
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\OnDuplicate;
use DelayQueue\State;
$queue = offline();
$good = ['receipt' => 'r', 'payload' => 1];
foreach ([
    'x', [], ['payload' => 1], ['receipt' => null, 'payload' => 1], ['receipt' => ''], ['receipt' => str_repeat('r', 201)], ['receipt' => "r\n"], ['receipt' => []],
    ['recipt' => 'r'] + $good, [7 => 'r'] + $good, ['receipt' => 'r', 'delay' => 5], ['receipt' => 'r', 'unique' => 5], ['delay' => -1] + $good,
    ['onDuplicate' => OnDuplicate::Fail] + $good, ['onDuplicate' => 'keep'] + $good,
    ['state' => State::Ready] + $good, ['state' => 'buried'] + $good,
    ['createdAt' => -1] + $good, ['createdAt' => INF] + $good, ['createdAt' => 'yesterday'] + $good, ['createdAt' => 1e15] + $good,
    ['past' => 3] + $good, ['past' => ['acks' => 1]] + $good, ['past' => [3]] + $good, ['past' => ['attempts' => -1]] + $good,
    ['past' => ['kicks' => null]] + $good, ['past' => ['kicks' => 1 << 32]] + $good, ['past' => ['firstDueAt' => -5]] + $good, ['past' => ['lastError' => []]] + $good,
    ['past' => ['firstDueAt' => 'once']] + $good,
    ['seal' => 'x'] + $good, ['seal' => ['alg' => 'x']] + $good, ['seal' => ['alg' => 'hmac-sha256', 'key' => 'k1', 'tag' => 'dA==']] + $good,
    ['extras' => 'x'] + $good, ['maxWait' => 5] + $good, ['expires' => 1, 'retryUntil' => 1] + $good, ['payload' => NAN] + $good,
] as $bad) {
    caught(fn() => $queue->pushOnce([$good, $bad]));
}
caught(fn() => $queue->pushOnce((function () use ($good) { yield $good; yield 'k' => ['receipt' => 1, 'payload' => 1, 'ttr' => 'x']; })()));
caught(fn() => $queue->pushOnce('x'));
caught(fn() => $queue->receipts('soon'));
caught(fn() => $queue->receipts(1_800_000_000));
caught(fn() => $queue->receipts(limit: 0));
caught(fn() => $queue->forgetReceipts('r', str_repeat('r', 201)));
echo "-- nothing to send needs no connection\n";
echo json_encode([$queue->pushOnce([]), $queue->pushOnce(new ArrayIterator([])), $queue->forgetReceipts()]), "\n";
?>
--EXPECT--
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1 must be of type array, string given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "receipt" must be given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "receipt" must be given
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "receipt" must be of type string, null given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "receipt" must be between 1 and 200 bytes long
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "receipt" must be between 1 and 200 bytes long
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "receipt" must not contain control characters
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "receipt" must be of type string, array given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1 has the unknown key "recipt"; did you mean 'receipt'?
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1 has the unknown key "7"; there are 'payload', 'delay', 'id', 'priority', 'ttr', 'maxAttempts', 'backoff', 'timeout', 'onDuplicate', 'headers', 'unique', 'maxWait', 'expires', 'onExpiry', 'retryUntil', 'group', 'extras', 'receipt', 'createdAt', 'past', 'state' and 'seal'
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "payload" must be given with delay
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "unique" must not be given without an id
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "delay" must be greater than or equal to 0
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "onDuplicate" must be OnDuplicate::Keep or Replace: a job whose id is taken is kept, and counted
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "onDuplicate" must be of type DelayQueue\OnDuplicate, string given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "state" must be State::Buried or null
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "state" must be of type ?DelayQueue\State, string given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "createdAt" must be greater than or equal to 0
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "createdAt" must be finite
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "createdAt" must be of type int|float|null, string given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "createdAt" must lie before the year 10000
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "past" must be of type ?array, int given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "past" has the unknown key "acks"
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "past" has the unknown key "0"
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "past.attempts" must be between 0 and 4294967294
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "past.kicks" must be of type int, null given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "past.kicks" must be between 0 and 4294967294
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "past.firstDueAt" must be greater than or equal to 0
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "past.lastError" must be of type ?string, array given
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "past.firstDueAt" must be of type int|float|null, string given
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "seal" must be of type ?array, string given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "seal" must have the keys "alg", "key" and "tag"
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "payload" must be of type string, int given
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "extras" must be the extras of a JobInfo, which this version can keep
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "maxWait" must not be given without an id and OnDuplicate::Replace
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "retryUntil" must not be given together with expires
DelayQueue\PayloadException: item 1: Inf and NaN cannot be JSON encoded
ValueError: DelayQueue::pushOnce(): Argument #1 ($jobs) item 1: "ttr" must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
TypeError: DelayQueue::pushOnce(): Argument #1 ($jobs) must be of type Traversable|array, string given
ValueError: DelayQueue::receipts(): Argument #1 ($olderThan) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
ValueError: DelayQueue::receipts(): Argument #1 ($olderThan) must be a delay, and 1800000000 looks like a Unix time: for a moment give 1800000000 - time()
ValueError: DelayQueue::receipts(): Argument #3 ($limit) must be greater than or equal to 1
ValueError: DelayQueue::forgetReceipts(): Argument #2 must be between 1 and 200 bytes long
-- nothing to send needs no connection
[{"added":0,"kept":0,"known":0},{"added":0,"kept":0,"known":0},0]
