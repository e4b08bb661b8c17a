--TEST--
Weak mode coerces scalars as PHP's own functions do
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Text { function __toString(): string { return '2s'; } }
var_dump(
    (new DelayQueue\Release('1.5'))->delay,
    (new DelayQueue\Release(true))->delay,
    (new DelayQueue\Release(new Text))->delay,
    (new DelayQueue\Release(1, 5))->getMessage(),
    DelayQueue\Backoff::fixed(1)->delayAfter('3'),
    DelayQueue\Backoff::exponential(1, '3')->delayAfter(2),
);
caught(fn() => DelayQueue\Backoff::fixed(1)->delayAfter('3 apples'));
caught(fn() => DelayQueue\Backoff::fixed(1)->delayAfter(null));
caught(fn() => DelayQueue\Backoff::fixed(1)->delayAfter([]));
set_error_handler(function (int $level, string $message): bool { echo "deprecated: $message\n"; return true; });
var_dump(DelayQueue\Backoff::fixed(1)->delayAfter(1.5));
set_error_handler(function (int $level, string $message): bool { throw new ErrorException($message); });
caught(fn() => DelayQueue\Backoff::fixed(1)->delayAfter(1.5));
$reference = '7';
$alias = &$reference;
var_dump((new DelayQueue\Release($reference))->delay, $reference);
caught(fn() => offline()->reserve('soon'));
caught(fn() => offline()->reserve('0.5'));
caught(fn() => offline()->kick('two'));
caught(fn() => offline()->kickJob('id', 'yes'));
?>
--EXPECT--
float(1.5)
float(1)
float(2)
string(1) "5"
float(1)
float(3)
TypeError: DelayQueue\Backoff::delayAfter(): Argument #1 ($attempt) must be of type int, string given
TypeError: DelayQueue\Backoff::delayAfter(): Argument #1 ($attempt) must be of type int, null given
TypeError: DelayQueue\Backoff::delayAfter(): Argument #1 ($attempt) must be of type int, array given
deprecated: Implicit conversion from float 1.5 to int loses precision
float(1)
ErrorException: Implicit conversion from float 1.5 to int loses precision
float(7)
string(1) "7"
TypeError: DelayQueue::reserve(): Argument #1 ($timeout) must be of type int|float|null, string given
DelayQueue\ConnectionException: reserving from queue 'offline': cannot connect to redis+unix:///nonexistent/redis.sock?db=0: no such socket: is Redis running, with this 'unixsocket'?
TypeError: DelayQueue::kick(): Argument #1 ($max) must be of type ?int, string given
DelayQueue\ConnectionException: kicking job 'id' of queue 'offline': cannot connect to redis+unix:///nonexistent/redis.sock?db=0: no such socket: is Redis running, with this 'unixsocket'?
