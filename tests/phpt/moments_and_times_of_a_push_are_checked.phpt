--TEST--
push(): $unique, $maxWait, $expires and $retryUntil refuse what they cannot mean
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\OnDuplicate;
$queue = offline();
$hundred = new DateTimeImmutable('+101 years');
caught(fn() => $queue->push(1, unique: '10m'));
caught(fn() => $queue->push(1, id: 'a', unique: 0));
caught(fn() => $queue->push(1, id: 'a', unique: -1));
caught(fn() => $queue->push(1, id: 'a', unique: '40000d'));
caught(fn() => $queue->push(1, id: 'a', unique: 1_800_000_000));
caught(fn() => $queue->push(1, id: 'a', maxWait: '30s'));
caught(fn() => $queue->push(1, onDuplicate: OnDuplicate::Replace, maxWait: '30s'));
caught(fn() => $queue->push(1, id: 'a', onDuplicate: OnDuplicate::Replace, maxWait: 0));
caught(fn() => $queue->push(1, id: 'a', onDuplicate: OnDuplicate::Replace, maxWait: '-1s'));
caught(fn() => $queue->push(1, expires: -0.1));
caught(fn() => $queue->push(1, expires: 0));
caught(fn() => $queue->push(1, expires: '40000d'));
caught(fn() => $queue->push(1, expires: $hundred));
caught(fn() => $queue->push(1, expires: 1_800_000_000));
caught(fn() => $queue->push(1, retryUntil: -1));
caught(fn() => $queue->push(1, retryUntil: $hundred));
caught(fn() => $queue->push(1, retryUntil: 3.2e9));
caught(fn() => $queue->push(1, expires: '1h', retryUntil: '2h'));
caught(fn() => $queue->pushMany([['payload' => 1], ['payload' => 1, 'unique' => '10m']]));
caught(fn() => $queue->pushMany([['payload' => 1, 'expires' => 1, 'retryUntil' => 1]]));
caught(fn() => $queue->pushMany([['payload' => 1, 'onExpiry' => 'drop']]));
?>
--EXPECT--
ValueError: DelayQueue::push(): Argument #11 ($unique) must not be given without an id
ValueError: DelayQueue::push(): Argument #11 ($unique) must be greater than 0
ValueError: DelayQueue::push(): Argument #11 ($unique) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #11 ($unique) must be at most 100 years
ValueError: DelayQueue::push(): Argument #11 ($unique) must be a delay, and 1800000000 looks like a Unix time: for a moment give 1800000000 - time()
ValueError: DelayQueue::push(): Argument #12 ($maxWait) must not be given without an id and OnDuplicate::Replace
ValueError: DelayQueue::push(): Argument #12 ($maxWait) must not be given without an id and OnDuplicate::Replace
ValueError: DelayQueue::push(): Argument #12 ($maxWait) must be greater than 0
ValueError: DelayQueue::push(): Argument #12 ($maxWait) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #13 ($expires) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #13 ($expires) must be greater than 0
ValueError: DelayQueue::push(): Argument #13 ($expires) must be at most 100 years
ValueError: DelayQueue::push(): Argument #13 ($expires) must be at most 100 years
ValueError: DelayQueue::push(): Argument #13 ($expires) must be a delay, and 1800000000 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1800000000')
ValueError: DelayQueue::push(): Argument #15 ($retryUntil) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #15 ($retryUntil) must be at most 100 years
ValueError: DelayQueue::push(): Argument #15 ($retryUntil) must be at most 100 years
ValueError: DelayQueue::push(): Argument #15 ($retryUntil) must not be given together with expires
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 1: "unique" must not be given without an id
ValueError: DelayQueue::pushMany(): Argument #1 ($jobs) item 0: "retryUntil" must not be given together with expires
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 0: "onExpiry" must be of type DelayQueue\OnExpiry, string given
