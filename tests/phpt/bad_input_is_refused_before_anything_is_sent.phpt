--TEST--
Bad input gets a ValueError or TypeError, and nothing is sent
--FILE--
<?php
require __DIR__ . '/helpers.inc';
// Sending would throw a ConnectionException.
$queue = offline();

echo "-- names\n";
$names = ['', str_repeat('a', 201), 'a b', 'a{b}', "a\0b", "a\nb", 'ä', 'a/b'];
caught_each($names, fn($name) => new DelayQueue($name));
caught_each($names, fn($name) => $queue->watch('ok', $name));
var_dump(get_class(new DelayQueue('A-z.0:9_' . str_repeat('a', 192))));

echo "-- delays\n";
caught_each([-1, -0.001, NAN, INF, -INF, 1e20, PHP_INT_MAX, PHP_INT_MIN, 3155760000.001, '', 'soon', '-5s', 'NaN', 'INF', '1e20', '0x10', 'P1M', "1s\0", "\xff", '99999d'], fn($delay) => $queue->push(1, $delay));
caught(fn() => $queue->push(1, DateInterval::createFromDateString('1 second ago')));
caught(fn() => $queue->push(1, new DateInterval('P36890D')));
caught(fn() => $queue->push(1, new DateTime('9999-12-31')));
caught(fn() => $queue->reschedule('id', -1));
caught(fn() => $queue->reschedule('id', 'soon'));

echo "-- leases\n";
caught_each([0, 0.099, -1, NAN, 2592000.001, '31d', '99ms'], fn($ttr) => $queue->push(1, ttr: $ttr));

echo "-- numbers\n";
caught_each([-1, 4294967296, PHP_INT_MAX], fn($number) => $queue->push(1, priority: $number));
caught_each([-1, 4294967296, PHP_INT_MAX], fn($number) => $queue->push(1, maxAttempts: $number));

echo "-- ids\n";
$ids = ['', str_repeat('i', 201), "a\0b", "a\nb", "a\x7f"];
caught_each($ids, fn($id) => $queue->push(1, id: $id));
caught_each($ids, fn($id) => $queue->cancel('ok', $id));
caught(fn() => $queue->update('', 1));

echo "-- waits\n";
$timeouts = [-1, -0.5, NAN, INF, PHP_INT_MAX];
caught_each($timeouts, fn($timeout) => $queue->reserve($timeout));
caught_each($timeouts, fn($timeout) => $queue->reserveMany(1, $timeout));
caught_each($timeouts, fn($timeout) => $queue->wait($timeout));
caught(fn() => $queue->pause(-1));
caught(fn() => $queue->pause('soon'));

echo "-- moments\n";
caught_each([NAN, INF, -INF, 1e20], fn($score) => $queue->producer('id', $score, []));
caught_each([NAN, INF, -INF, 1e20], fn($score) => $queue->consumer($score));
?>
--EXPECT--
-- names
'', 'aaaaaaaaa…, 'a b', 'a{b}', 'a' . "\0" . 'b', 'a\nb', '\303\244', 'a/b' => DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
'', 'aaaaaaaaa…, 'a b', 'a{b}', 'a' . "\0" . 'b', 'a\nb', '\303\244', 'a/b' => DelayQueue\InvalidArgument: DelayQueue::watch(): Argument #2 must be 1 to 200 bytes of [A-Za-z0-9._:-]
string(10) "DelayQueue"
-- delays
-1, -0.001, -9223372036854775807-1, '-5s' => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be greater than or equal to 0
NAN, INF, -INF, 'NaN', 'INF' => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be finite
1.0E+20, 9223372036854775807, 3155760000.001, '1e20', '99999d' => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
'', 'soon', '0x10', '1s' . "\0" . '', '\377' => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
'P1M' => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must have no months or years, as their lengths differ: give days
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be greater than or equal to 0
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
DelayQueue\InvalidArgument: DelayQueue::reschedule(): Argument #2 ($delay) must be greater than or equal to 0
DelayQueue\InvalidArgument: DelayQueue::reschedule(): Argument #2 ($delay) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
-- leases
0, 0.099, 2592000.001, '31d', '99ms' => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #5 ($ttr) must be between 0.1 seconds and 30 days
-1 => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #5 ($ttr) must be greater than or equal to 0
NAN => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #5 ($ttr) must be finite
-- numbers
-1, 4294967296, 9223372036854775807 => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #4 ($priority) must be between 0 and 4294967295
-1, 4294967296, 9223372036854775807 => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #6 ($maxAttempts) must be between 0 and 4294967295
-- ids
'', 'iiiiiiiii… => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #3 ($id) must be between 1 and 200 bytes long
'a' . "\0" . 'b', 'a\nb', 'a\177' => DelayQueue\InvalidArgument: DelayQueue::push(): Argument #3 ($id) must not contain control characters
'', 'iiiiiiiii… => DelayQueue\InvalidArgument: DelayQueue::cancel(): Argument #2 must be between 1 and 200 bytes long
'a' . "\0" . 'b', 'a\nb', 'a\177' => DelayQueue\InvalidArgument: DelayQueue::cancel(): Argument #2 must not contain control characters
DelayQueue\InvalidArgument: DelayQueue::update(): Argument #1 ($id) must be between 1 and 200 bytes long
-- waits
-1, -0.5 => DelayQueue\InvalidArgument: DelayQueue::reserve(): Argument #1 ($timeout) must be greater than or equal to 0
NAN, INF => DelayQueue\InvalidArgument: DelayQueue::reserve(): Argument #1 ($timeout) must be finite
9223372036854775807 => DelayQueue\InvalidArgument: DelayQueue::reserve(): Argument #1 ($timeout) must be at most 100 years
-1, -0.5 => DelayQueue\InvalidArgument: DelayQueue::reserveMany(): Argument #2 ($timeout) must be greater than or equal to 0
NAN, INF => DelayQueue\InvalidArgument: DelayQueue::reserveMany(): Argument #2 ($timeout) must be finite
9223372036854775807 => DelayQueue\InvalidArgument: DelayQueue::reserveMany(): Argument #2 ($timeout) must be at most 100 years
-1, -0.5 => DelayQueue\InvalidArgument: DelayQueue::wait(): Argument #1 ($timeout) must be greater than or equal to 0
NAN, INF => DelayQueue\InvalidArgument: DelayQueue::wait(): Argument #1 ($timeout) must be finite
9223372036854775807 => DelayQueue\InvalidArgument: DelayQueue::wait(): Argument #1 ($timeout) must be at most 100 years
DelayQueue\InvalidArgument: DelayQueue::pause(): Argument #1 ($for) must be greater than or equal to 0
DelayQueue\InvalidArgument: DelayQueue::pause(): Argument #1 ($for) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
-- moments
NAN, INF, -INF => DelayQueue\InvalidArgument: DelayQueue::producer(): Argument #2 ($score) must be finite
1.0E+20 => DelayQueue\InvalidArgument: DelayQueue::producer(): Argument #2 ($score) must lie before the year 10000
NAN, INF, -INF => DelayQueue\InvalidArgument: DelayQueue::consumer(): Argument #1 ($maxScore) must be finite
1.0E+20 => DelayQueue\InvalidArgument: DelayQueue::consumer(): Argument #1 ($maxScore) must lie before the year 10000
