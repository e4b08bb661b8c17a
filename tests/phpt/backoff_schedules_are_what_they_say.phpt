--TEST--
Backoff: schedules, limits, equality
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Backoff;
$first = fn(Backoff $b, int $n = 6) => implode(' ', array_map($b->delayAfter(...), range(1, $n)));
echo $first(Backoff::fixed('1m')), "\n";
echo $first(Backoff::linear('2m', '1m'), 3), "\n";
echo $first(Backoff::linear(2)), "\n";
echo $first(Backoff::stages('15s 3m 10m 30m 30m 1h 2h 6h 15h'), 11), "\n";
echo $first(Backoff::stages([1, 2.5, '1m', new DateInterval('PT2M')])), "\n";
echo $first(Backoff::stages(['a' => '5'])), "\n";
echo $first(Backoff::exponential('5s'), 12), "\n";
echo $first(Backoff::exponential(1, 3, max: 10, jitter: 0)), "\n";
echo $first(Backoff::exponential(base: '100ms', factor: 1.5)), "\n";
echo Backoff::exponential(1)->delayAfter(4294967295), "\n";
caught_each(['', []], fn($delays) => Backoff::stages($delays));
caught(fn() => Backoff::stages('5s soon'));
caught(fn() => Backoff::stages(['5s', 'x' => -1]));
caught(fn() => Backoff::stages(['5s', null]));
caught(fn() => Backoff::stages([true, 'x']));
caught(fn() => Backoff::stages(array_fill(0, 256, 1)));
caught(fn() => Backoff::fixed(-1));
caught(fn() => Backoff::linear(1, NAN));
caught_each([0.5, NAN, INF], fn($factor) => Backoff::exponential(1, $factor));
caught_each([1.1, -0.1, NAN], fn($jitter) => Backoff::exponential(1, jitter: $jitter));
caught(fn() => Backoff::exponential(1, max: 'x'));
caught_each([0, 4294967296], fn($attempt) => Backoff::fixed(1)->delayAfter($attempt));
var_dump(Backoff::fixed(1) == Backoff::fixed('1s'), Backoff::fixed(1) == Backoff::fixed(2));
?>
--EXPECT--
60 60 60 60 60 60
180 300 420
2 4 6 8 10 12
15 180 600 1800 1800 3600 7200 21600 54000 54000 54000
1 2.5 60 120 120 120
5 5 5 5 5 5
5 10 20 40 80 160 320 640 1280 2560 3600 3600
1 3 9 10 10 10
0.1 0.15 0.225 0.338 0.507 0.76
3600
'', array (\n) => DelayQueue\InvalidArgument: DelayQueue\Backoff::stages(): Argument #1 ($delays) must not be empty
DelayQueue\InvalidArgument: DelayQueue\Backoff::stages(): Argument #1 ($delays) has the delay "soon", which must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
DelayQueue\InvalidArgument: DelayQueue\Backoff::stages(): Argument #1 ($delays) element x must be greater than or equal to 0
TypeError: DelayQueue\Backoff::stages(): Argument #1 ($delays) element 1 must be of type DateInterval|string|int|float, null given
DelayQueue\InvalidArgument: DelayQueue\Backoff::stages(): Argument #1 ($delays) element 1 must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
DelayQueue\InvalidArgument: DelayQueue\Backoff::stages(): Argument #1 ($delays) must have at most 255 delays
DelayQueue\InvalidArgument: DelayQueue\Backoff::fixed(): Argument #1 ($delay) must be greater than or equal to 0
DelayQueue\InvalidArgument: DelayQueue\Backoff::linear(): Argument #2 ($base) must be finite
0.5, NAN, INF => DelayQueue\InvalidArgument: DelayQueue\Backoff::exponential(): Argument #2 ($factor) must be finite and greater than or equal to 1
1.1, -0.1, NAN => DelayQueue\InvalidArgument: DelayQueue\Backoff::exponential(): Argument #4 ($jitter) must be between 0 and 1
DelayQueue\InvalidArgument: DelayQueue\Backoff::exponential(): Argument #3 ($max) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
0, 4294967296 => DelayQueue\InvalidArgument: DelayQueue\Backoff::delayAfter(): Argument #1 ($attempt) must be between 1 and 4294967295
bool(true)
bool(false)
