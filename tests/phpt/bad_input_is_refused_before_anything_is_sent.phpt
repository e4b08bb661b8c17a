--TEST--
Bad input gets a ValueError or TypeError, and nothing is sent
--FILE--
<?php
require __DIR__ . '/helpers.inc';
// Sending would throw a ConnectionException.
$queue = offline();

echo "-- names\n";
foreach (['', str_repeat('a', 201), 'a b', 'a{b}', "a\0b", "a\nb", 'ä', 'a/b'] as $name) {
    caught(fn() => new DelayQueue($name));
    caught(fn() => $queue->watch('ok', $name));
}
var_dump(get_class(new DelayQueue('A-z.0:9_' . str_repeat('a', 192))));

echo "-- delays\n";
foreach ([-1, -0.001, NAN, INF, -INF, 1e20, PHP_INT_MAX, PHP_INT_MIN, 3155760000.001, '', 'soon', '-5s', 'NaN', 'INF', '1e20', '0x10', 'P1M', "1s\0", "\xff", '99999d'] as $delay) {
    caught(fn() => $queue->push(1, $delay));
}
caught(fn() => $queue->push(1, DateInterval::createFromDateString('1 second ago')));
caught(fn() => $queue->push(1, new DateInterval('P36890D')));
caught(fn() => $queue->push(1, new DateTime('9999-12-31')));
caught(fn() => $queue->reschedule('id', -1));
caught(fn() => $queue->reschedule('id', 'soon'));

echo "-- leases\n";
foreach ([0, 0.099, -1, NAN, 2592000.001, '31d', '99ms'] as $ttr) {
    caught(fn() => $queue->push(1, ttr: $ttr));
}

echo "-- numbers\n";
foreach ([-1, 4294967296, PHP_INT_MAX] as $number) {
    caught(fn() => $queue->push(1, priority: $number));
    caught(fn() => $queue->push(1, maxAttempts: $number));
}

echo "-- ids\n";
foreach (['', str_repeat('i', 201), "a\0b", "a\nb", "a\x7f"] as $id) {
    caught(fn() => $queue->push(1, id: $id));
    caught(fn() => $queue->cancel('ok', $id));
}
caught(fn() => $queue->update('', 1));

echo "-- waits\n";
foreach ([-1, -0.5, NAN, INF, PHP_INT_MAX] as $timeout) {
    caught(fn() => $queue->reserve($timeout));
    caught(fn() => $queue->reserveMany(1, $timeout));
    caught(fn() => $queue->wait($timeout));
}
caught(fn() => $queue->pause(-1));
caught(fn() => $queue->pause('soon'));

echo "-- moments\n";
foreach ([NAN, INF, -INF, 1e20] as $score) {
    caught(fn() => $queue->producer('id', $score, []));
    caught(fn() => $queue->consumer($score));
}
?>
--EXPECT--
-- names
ValueError: DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::watch(): Argument #2 must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::watch(): Argument #2 must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::watch(): Argument #2 must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::watch(): Argument #2 must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::watch(): Argument #2 must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::watch(): Argument #2 must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::watch(): Argument #2 must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::watch(): Argument #2 must be 1 to 200 bytes of [A-Za-z0-9._:-]
string(10) "DelayQueue"
-- delays
ValueError: DelayQueue::push(): Argument #2 ($delay) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #2 ($delay) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #2 ($delay) must be finite
ValueError: DelayQueue::push(): Argument #2 ($delay) must be finite
ValueError: DelayQueue::push(): Argument #2 ($delay) must be finite
ValueError: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
ValueError: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
ValueError: DelayQueue::push(): Argument #2 ($delay) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
ValueError: DelayQueue::push(): Argument #2 ($delay) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
ValueError: DelayQueue::push(): Argument #2 ($delay) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
ValueError: DelayQueue::push(): Argument #2 ($delay) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #2 ($delay) must be finite
ValueError: DelayQueue::push(): Argument #2 ($delay) must be finite
ValueError: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
ValueError: DelayQueue::push(): Argument #2 ($delay) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
ValueError: DelayQueue::push(): Argument #2 ($delay) must have no months or years, as their lengths differ: give days
ValueError: DelayQueue::push(): Argument #2 ($delay) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
ValueError: DelayQueue::push(): Argument #2 ($delay) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
ValueError: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
ValueError: DelayQueue::push(): Argument #2 ($delay) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
ValueError: DelayQueue::push(): Argument #2 ($delay) must be at most 100 years
ValueError: DelayQueue::reschedule(): Argument #2 ($delay) must be greater than or equal to 0
ValueError: DelayQueue::reschedule(): Argument #2 ($delay) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
-- leases
ValueError: DelayQueue::push(): Argument #5 ($ttr) must be between 0.1 seconds and 30 days
ValueError: DelayQueue::push(): Argument #5 ($ttr) must be between 0.1 seconds and 30 days
ValueError: DelayQueue::push(): Argument #5 ($ttr) must be greater than or equal to 0
ValueError: DelayQueue::push(): Argument #5 ($ttr) must be finite
ValueError: DelayQueue::push(): Argument #5 ($ttr) must be between 0.1 seconds and 30 days
ValueError: DelayQueue::push(): Argument #5 ($ttr) must be between 0.1 seconds and 30 days
ValueError: DelayQueue::push(): Argument #5 ($ttr) must be between 0.1 seconds and 30 days
-- numbers
ValueError: DelayQueue::push(): Argument #4 ($priority) must be between 0 and 4294967295
ValueError: DelayQueue::push(): Argument #6 ($maxAttempts) must be between 0 and 4294967295
ValueError: DelayQueue::push(): Argument #4 ($priority) must be between 0 and 4294967295
ValueError: DelayQueue::push(): Argument #6 ($maxAttempts) must be between 0 and 4294967295
ValueError: DelayQueue::push(): Argument #4 ($priority) must be between 0 and 4294967295
ValueError: DelayQueue::push(): Argument #6 ($maxAttempts) must be between 0 and 4294967295
-- ids
ValueError: DelayQueue::push(): Argument #3 ($id) must be between 1 and 200 bytes long
ValueError: DelayQueue::cancel(): Argument #2 must be between 1 and 200 bytes long
ValueError: DelayQueue::push(): Argument #3 ($id) must be between 1 and 200 bytes long
ValueError: DelayQueue::cancel(): Argument #2 must be between 1 and 200 bytes long
ValueError: DelayQueue::push(): Argument #3 ($id) must not contain control characters
ValueError: DelayQueue::cancel(): Argument #2 must not contain control characters
ValueError: DelayQueue::push(): Argument #3 ($id) must not contain control characters
ValueError: DelayQueue::cancel(): Argument #2 must not contain control characters
ValueError: DelayQueue::push(): Argument #3 ($id) must not contain control characters
ValueError: DelayQueue::cancel(): Argument #2 must not contain control characters
ValueError: DelayQueue::update(): Argument #1 ($id) must be between 1 and 200 bytes long
-- waits
ValueError: DelayQueue::reserve(): Argument #1 ($timeout) must be greater than or equal to 0
ValueError: DelayQueue::reserveMany(): Argument #2 ($timeout) must be greater than or equal to 0
ValueError: DelayQueue::wait(): Argument #1 ($timeout) must be greater than or equal to 0
ValueError: DelayQueue::reserve(): Argument #1 ($timeout) must be greater than or equal to 0
ValueError: DelayQueue::reserveMany(): Argument #2 ($timeout) must be greater than or equal to 0
ValueError: DelayQueue::wait(): Argument #1 ($timeout) must be greater than or equal to 0
ValueError: DelayQueue::reserve(): Argument #1 ($timeout) must be finite
ValueError: DelayQueue::reserveMany(): Argument #2 ($timeout) must be finite
ValueError: DelayQueue::wait(): Argument #1 ($timeout) must be finite
ValueError: DelayQueue::reserve(): Argument #1 ($timeout) must be finite
ValueError: DelayQueue::reserveMany(): Argument #2 ($timeout) must be finite
ValueError: DelayQueue::wait(): Argument #1 ($timeout) must be finite
ValueError: DelayQueue::reserve(): Argument #1 ($timeout) must be at most 100 years
ValueError: DelayQueue::reserveMany(): Argument #2 ($timeout) must be at most 100 years
ValueError: DelayQueue::wait(): Argument #1 ($timeout) must be at most 100 years
ValueError: DelayQueue::pause(): Argument #1 ($for) must be greater than or equal to 0
ValueError: DelayQueue::pause(): Argument #1 ($for) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
-- moments
ValueError: DelayQueue::producer(): Argument #2 ($score) must be finite
ValueError: DelayQueue::consumer(): Argument #1 ($maxScore) must be finite
ValueError: DelayQueue::producer(): Argument #2 ($score) must be finite
ValueError: DelayQueue::consumer(): Argument #1 ($maxScore) must be finite
ValueError: DelayQueue::producer(): Argument #2 ($score) must be finite
ValueError: DelayQueue::consumer(): Argument #1 ($maxScore) must be finite
ValueError: DelayQueue::producer(): Argument #2 ($score) must lie before the year 10000
ValueError: DelayQueue::consumer(): Argument #1 ($maxScore) must lie before the year 10000
