--TEST--
Backoff::parse() reads what a Backoff prints, and JobInfo tells the backoff and the time limit of a job
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Backoff;

$all = [
    Backoff::fixed('90s'), Backoff::linear('2m', '1m'), Backoff::linear('1h'), Backoff::stages('15s, 3m PT10M 2d'),
    Backoff::exponential('5s'), Backoff::exponential(0.5, 1.5, '1d', 0),
];
foreach ($all as $backoff) {
    echo $backoff, Backoff::parse($backoff) == $backoff ? "\n" : " is not read again\n";
}
echo Backoff::parse('15s 3m'), ', ', Backoff::parse('linear 2m'), ', ', Backoff::parse('exponential 1s 3'), "\n";
foreach (['', 'fixed', 'fixed soon', 'exponential 1s 0.5', 'linear 1s 2s 3s'] as $text) {
    try {
        Backoff::parse($text);
    } catch (ValueError $error) {
        echo $error->getMessage(), "\n";
    }
}
var_dump($all[0] instanceof Stringable);

$queue = queue();
$queue->push(1, id: 'a', timeout: '2.5', backoff: Backoff::stages('1s 2s'));
$queue->push(1, id: 'b');
foreach (['a', 'b'] as $id) {
    $job = $queue->peek($id);
    echo "$job->backoff, $job->timeout s\n";
}
?>
--EXPECT--
fixed 90s
linear 2m 1m
linear 1h 0ms
stages 15s 3m 10m 2d
exponential 5s 2 1h 0.1
exponential 500ms 1.5 1d 0
stages 15s 3m, linear 2m 0ms, exponential 1s 3 1h 0.1
DelayQueue\Backoff::parse(): Argument #1 ($text) must not be empty
DelayQueue\Backoff::parse(): Argument #1 ($text) has the delay "fixed", which must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
DelayQueue\Backoff::parse(): Argument #1 ($text) has the delay "soon", which must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
DelayQueue\Backoff::parse(): Argument #1 ($text) has the number "0.5", which is out of range
DelayQueue\Backoff::parse(): Argument #1 ($text) has the delay "linear", which must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
bool(true)
stages 1s 2s, 2.5 s
exponential 5s 2 1h 0.1, 0 s
