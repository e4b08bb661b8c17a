--TEST--
Errors about arguments are worded as php-src words them
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = offline();
caught(fn() => $queue->push());
caught(fn() => $queue->push(1, 2, 'a', 4, 5, 6, null, 8, DelayQueue\OnDuplicate::Fail, [], 11, 12, 13, DelayQueue\OnExpiry::Bury, 15, 'group', 17));
caught(fn() => $queue->push(1, []));
caught(fn() => $queue->push(1, new stdClass));
caught(fn() => $queue->push(1, null));
caught(fn() => $queue->push(1, id: []));
caught(fn() => $queue->push(1, priority: 'x'));
caught(fn() => $queue->push(1, priority: []));
caught(fn() => $queue->push(1, ttr: []));
caught(fn() => $queue->push(1, ttr: new DateTime));
caught(fn() => $queue->push(1, maxAttempts: 'x'));
caught(fn() => $queue->push(1, backoff: 'x'));
caught(fn() => $queue->push(1, backoff: new stdClass));
caught(fn() => $queue->push(1, timeout: fopen('php://memory', 'r')));
caught(fn() => $queue->push(1, onDuplicate: 'fail'));
caught(fn() => $queue->push(1, onDuplicate: DelayQueue\State::Ready));
caught(fn() => $queue->push(1, onExpiry: 'bury'));
caught(fn() => $queue->push(1, id: 'a', unique: []));
caught(fn() => $queue->push(1, expires: new stdClass));
caught(fn() => $queue->push(1, retryUntil: []));
caught(fn() => $queue->push(1, unknown: 1));
caught(fn() => $queue->pushMany('x'));
caught(fn() => $queue->pushMany(new stdClass));
caught(fn() => $queue->producer('id', 'x', []));
caught(fn() => $queue->producer('id', 1, 'x'));
caught(fn() => $queue->producer('id', 1));
caught(fn() => $queue->reserve([]));
caught(fn() => $queue->reserve(1, 2));
caught(fn() => $queue->reserveMany(null));
caught(fn() => $queue->ackMany(1));
caught(fn() => $queue->ackMany(new stdClass));
caught(fn() => $queue->watch('a', []));
caught(fn() => $queue->watch(...['name' => 'a']));
caught(fn() => $queue->cancel('a', new stdClass));
caught(fn() => $queue->count('ready'));
caught(fn() => $queue->list('ready'));
caught(fn() => $queue->list());
caught(fn() => $queue->purge(DelayQueue\State::Ready, 'x'));
caught(fn() => $queue->purge(null));
caught(fn() => $queue->pause([]));
caught(fn() => $queue->stats(1));
caught(fn() => $queue->stop(1));
caught(fn() => new DelayQueue([]));
caught(fn() => new DelayQueue('q', []));
caught(fn() => new DelayQueue('q', null, 'x'));
caught(fn() => new DelayQueue(null));
caught(fn() => DelayQueue\Backoff::fixed([]));
caught(fn() => DelayQueue\Backoff::stages(null));
caught(fn() => DelayQueue\Backoff::stages([[]]));
?>
--EXPECT--
ArgumentCountError: DelayQueue::push() expects at least 1 argument, 0 given
ArgumentCountError: DelayQueue::push() expects at most 16 arguments, 17 given
TypeError: DelayQueue::push(): Argument #2 ($delay) must be of type DateInterval|DateTimeInterface|string|int|float, array given
TypeError: DelayQueue::push(): Argument #2 ($delay) must be of type DateInterval|DateTimeInterface|string|int|float, stdClass given
TypeError: DelayQueue::push(): Argument #2 ($delay) must be of type DateInterval|DateTimeInterface|string|int|float, null given
TypeError: DelayQueue::push(): Argument #3 ($id) must be of type ?string, array given
TypeError: DelayQueue::push(): Argument #4 ($priority) must be of type ?int, string given
TypeError: DelayQueue::push(): Argument #4 ($priority) must be of type ?int, array given
TypeError: DelayQueue::push(): Argument #5 ($ttr) must be of type DateInterval|string|int|float|null, array given
TypeError: DelayQueue::push(): Argument #5 ($ttr) must be of type DateInterval|string|int|float|null, DateTime given
TypeError: DelayQueue::push(): Argument #6 ($maxAttempts) must be of type ?int, string given
TypeError: DelayQueue::push(): Argument #7 ($backoff) must be of type ?DelayQueue\Backoff, string given
TypeError: DelayQueue::push(): Argument #7 ($backoff) must be of type ?DelayQueue\Backoff, stdClass given
TypeError: DelayQueue::push(): Argument #8 ($timeout) must be of type DateInterval|string|int|float|null, resource given
TypeError: DelayQueue::push(): Argument #9 ($onDuplicate) must be of type DelayQueue\OnDuplicate, string given
TypeError: DelayQueue::push(): Argument #9 ($onDuplicate) must be of type DelayQueue\OnDuplicate, DelayQueue\State given
TypeError: DelayQueue::push(): Argument #14 ($onExpiry) must be of type DelayQueue\OnExpiry, string given
TypeError: DelayQueue::push(): Argument #11 ($unique) must be of type DateInterval|string|int|float|null, array given
TypeError: DelayQueue::push(): Argument #13 ($expires) must be of type DateInterval|DateTimeInterface|string|int|float|null, stdClass given
TypeError: DelayQueue::push(): Argument #15 ($retryUntil) must be of type DateInterval|DateTimeInterface|string|int|float|null, array given
Error: Unknown named parameter $unknown
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) must be of type Traversable|array, string given
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) must be of type Traversable|array, stdClass given
TypeError: DelayQueue::producer(): Argument #2 ($score) must be of type int|float, string given
TypeError: DelayQueue::producer(): Argument #3 ($message) must be of type array, string given
ArgumentCountError: DelayQueue::producer() expects exactly 3 arguments, 2 given
TypeError: DelayQueue::reserve(): Argument #1 ($timeout) must be of type int|float|null, array given
ArgumentCountError: DelayQueue::reserve() expects at most 1 argument, 2 given
TypeError: DelayQueue::reserveMany(): Argument #1 ($max) must be of type int, null given
TypeError: DelayQueue::ackMany(): Argument #1 must be of type DelayQueue\Job, int given
TypeError: DelayQueue::ackMany(): Argument #1 must be of type DelayQueue\Job, stdClass given
TypeError: DelayQueue::watch(): Argument #2 must be of type string, array given
ArgumentCountError: DelayQueue::watch() does not accept unknown named parameters
TypeError: DelayQueue::cancel(): Argument #2 must be of type string, stdClass given
TypeError: DelayQueue::count(): Argument #1 ($state) must be of type ?DelayQueue\State, string given
TypeError: DelayQueue::list(): Argument #1 ($state) must be of type DelayQueue\State, string given
ArgumentCountError: DelayQueue::list() expects at least 1 argument, 0 given
TypeError: DelayQueue::purge(): Argument #2 must be of type DelayQueue\State, string given
TypeError: DelayQueue::purge(): Argument #1 must be of type DelayQueue\State, null given
TypeError: DelayQueue::pause(): Argument #1 ($for) must be of type DateInterval|string|int|float|null, array given
ArgumentCountError: DelayQueue::stats() expects exactly 0 arguments, 1 given
ArgumentCountError: DelayQueue::stop() expects exactly 0 arguments, 1 given
TypeError: DelayQueue::__construct(): Argument #1 ($queue) must be of type string, array given
TypeError: DelayQueue::__construct(): Argument #2 ($dsn) must be of type ?string, array given
TypeError: DelayQueue::__construct(): Argument #3 ($options) must be of type array, string given
TypeError: DelayQueue::__construct(): Argument #1 ($queue) must be of type string, null given
TypeError: DelayQueue\Backoff::fixed(): Argument #1 ($delay) must be of type DateInterval|string|int|float, array given
TypeError: DelayQueue\Backoff::stages(): Argument #1 ($delays) must be of type array|string, null given
TypeError: DelayQueue\Backoff::stages(): Argument #1 ($delays) element 0 must be of type DateInterval|string|int|float, array given
