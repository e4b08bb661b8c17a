--TEST--
A thrown Release leaves its message as lastError; one without a message leaves the error before
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Release;
$queue = queue();
$queue->push(1, id: 'j', maxAttempts: 0);
$run = function (Throwable $throw) use ($queue): void {
    $queue->kickJob('j', resetAttempts: false);
    $queue->consume(fn() => throw $throw, maxJobs: 1);
    $job = $queue->peek('j');
    echo $job->state->value, ' ', $job->attempts, ' ', $job->releases, ' ', json_encode($job->lastError), "\n";
};
$run(new Release('1h'));
$run(new Release('1h', 'rate limited by the bank'));
$run(new Release('1h'));
$run(new Release('1h', "a\0b" . str_repeat('x', 5000)) );
$run(new Exception('broken'));
var_dump(strlen($queue->peek('j')->lastError) > 20);
// The next attempt reads it.
$queue->kickJob('j');
$queue->consume(fn() => throw new Release(0, 'not yet'), maxJobs: 1);
var_dump($queue->reserve()->lastError);
$queue->purge();
?>
--EXPECTF--
delayed 1 1 null
delayed 2 2 "rate limited by the bank"
delayed 3 3 "rate limited by the bank"
delayed 4 4 "a\\0b%s"
delayed 5 4 "Exception: broken\nin %s"
bool(true)
string(7) "not yet"
