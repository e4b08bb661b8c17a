--TEST--
fail() and bury() keep a bounded, printable reason
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class MyError extends Error { protected $message = 'overridden'; }
class Text { function __toString(): string { return 'stringable'; } }
$queue = queue();
$queue->push(1, id: 'j');
$reason = function (mixed ...$reason) use ($queue): string {
    $queue->reserveJob('j')->bury(...$reason);
    $error = $queue->peek('j')->lastError;
    return json_encode($error === null ? null : strtok($error, "\n"));
};
echo $reason(), $reason(null), $reason(''), $reason('plain'), $reason("a\0b"), $reason("\xff!"), $reason(5), $reason(new Text), "\n";
echo $reason(new Exception), $reason(new MyError), $reason(new LogicException("m\0n")), "\n";
echo $reason(new class('anonymous') extends RuntimeException {}), "\n";
$long = fn(string $reason): string => strlen(json_decode($reason));
echo $long($reason(str_repeat('x', 5000))), ' ', $long($reason(new Exception(str_repeat('x', 10_000_000)))), "\n";
foreach ([1997, 1998, 1999, 2000] as $n) {
    $kept = json_decode($reason(str_repeat('x', $n) . '€€'));
    echo strlen($kept), mb_check($kept), ' ';
}
function mb_check(string $s): string { return preg_match('//u', $s) ? 'ok' : 'broken'; }
echo "\n";
$job = $queue->reserveJob('j');
caught(fn() => $job->fail([]));
caught(fn() => $job->bury(new stdClass));
caught(fn() => $job->fail(1, 2));
var_dump($job->isSettled());
$job->ack();
?>
--EXPECT--
nullnullnull"plain""a\\0b""\ufffd!""5""stringable"
"Exception""MyError: overridden""LogicException: m\\0n"
"RuntimeException@anonymous: anonymous"
2000 1000
2000ok 1998ok 1999ok 2000ok 
TypeError: DelayQueue\Job::fail(): Argument #1 ($reason) must be of type Throwable|string|null, array given
TypeError: DelayQueue\Job::bury(): Argument #1 ($reason) must be of type Throwable|string|null, stdClass given
ArgumentCountError: DelayQueue\Job::fail() expects at most 1 argument, 2 given
bool(false)
