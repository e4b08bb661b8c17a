--TEST--
memory://: what falls due within a second is waited for, and a wait for anything else ends at once
--INI--
delayqueue.testing=1
--FILE--
<?php
use DelayQueue\Backoff;
use DelayQueue\GroupLimits;
use DelayQueue\State;
use DelayQueue\Testing;

const LONG = 3600;
$queue = new DelayQueue('orders', 'memory://');
$began = microtime(true);
$consume = fn (mixed ...$options) => $queue->consume(fn ($job) => print("$job->payload\n"), ...$options)->name;

echo "-- nothing is there, then something is far away, then near\n";
var_dump($queue->reserve(LONG), $queue->wait(LONG), $queue->reserveMany(5, LONG), $queue->watch('a', 'b')->reserve(LONG));
var_dump($consume(), $consume(idleTimeout: LONG), $consume(prefetch: 8, maxTime: LONG));
$queue->watch('orders')->push('far', LONG);
var_dump($queue->reserve(LONG), $consume());
$queue->push('near', 0.2);
var_dump($queue->wait(LONG), $queue->reserve(LONG)->payload);

echo "-- another object of this thread, and a thread that keeps a lease, push nothing\n";
$other = new DelayQueue('orders', 'memory://');
$other->push('held', ttr: LONG);
$held = $other->reserve();
$held->keepAlive();
var_dump($queue->reserve(LONG));
$held->ack();

echo "-- a job that fails comes back within a second, or does not\n";
$queue->push('twice', backoff: Backoff::fixed(0.2), maxAttempts: 2);
$fail = function ($job): void {
    echo "$job->payload $job->attempts\n";
    throw new RuntimeException('no');
};
var_dump($queue->consume($fail)->name, $queue->count(State::Buried));
$queue->push('later', backoff: Backoff::fixed(LONG), maxAttempts: 2);
var_dump($queue->consume($fail)->name, $queue->count(State::Delayed));

echo "-- paused, or behind the limit of its group\n";
$queue->push('next');
$queue->pause(LONG);
var_dump($queue->reserve(LONG), $queue->wait(LONG), $consume());
$queue->resume();
var_dump($consume());
$queue->limitGroups(null, new GroupLimits(concurrency: 1));
$queue->push('first', group: 'g');
$queue->push('second', group: 'g');
$first = $queue->reserve();
var_dump($queue->reserve(LONG), $consume());
$first->ack();
var_dump($consume());

echo "-- time goes on only where a test moves it\n";
Testing::travel(LONG);
var_dump($consume(), microtime(true) - $began < 60);
?>
--EXPECT--
-- nothing is there, then something is far away, then near
NULL
bool(false)
array(0) {
}
NULL
string(5) "Empty"
string(5) "Empty"
string(5) "Empty"
NULL
string(5) "Empty"
bool(true)
string(4) "near"
-- another object of this thread, and a thread that keeps a lease, push nothing
NULL
-- a job that fails comes back within a second, or does not
twice 1
twice 2
string(5) "Empty"
int(1)
later 1
string(5) "Empty"
int(2)
-- paused, or behind the limit of its group
NULL
bool(false)
string(5) "Empty"
next
string(5) "Empty"
NULL
string(5) "Empty"
second
string(5) "Empty"
-- time goes on only where a test moves it
near
far
later
string(5) "Empty"
bool(true)
