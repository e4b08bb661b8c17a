--TEST--
A time limit ends its own handler: not the code that runs while its fiber is suspended, not another handler
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{Event, Job, TimeoutException};
$spin = function (float $seconds) { for ($end = microtime(true) + $seconds; microtime(true) < $end;); };
$queue = queue();

$queue->push(1, id: 'suspended', maxAttempts: 1);
$loop = new Fiber(fn () => $queue->consume(function () use ($spin) {
    Fiber::suspend();
    try {
        $spin(5);
        echo "not reached\n";
    } catch (TimeoutException $e) {
        echo 'resumed: ', $e->getMessage(), "\n";
        throw $e;
    }
}, maxJobs: 1, timeout: 0.1, graceTimeout: 60));
$loop->start();
$spin(0.4);
echo "outside: nothing\n";
$loop->resume();
echo $queue->peek('suspended')->lastError, "\n";
$queue->purge();

$queue->push(1, id: 'a fiber of its own', maxAttempts: 1);
$queue->consume(function () use ($spin) { (new Fiber(fn () => $spin(5)))->start(); }, maxJobs: 1, timeout: 0.1);
echo 'a fiber of its own: ', $queue->peek('a fiber of its own')->lastError, "\n";
$queue->purge();

$queue->push('outer', id: 'outer', maxAttempts: 1);
$queue->consume(function (Job $job, DelayQueue $queue) use ($spin) {
    $queue->push('inner', id: 'inner', maxAttempts: 1, timeout: '50ms');
    $queue->drain(fn () => $spin(5));
    echo 'inner: ', $queue->peek('inner')->lastError, "\n";
    $spin(5);
}, maxJobs: 1, timeout: 0.5);
echo 'outer: ', $queue->peek('outer')->lastError, "\n";
$queue->purge();

$before = $queue->stats()->acked;
$queue->on(Event::Failed, fn () => $spin(0.2));
$queue->pushMany([['payload' => 5, 'timeout' => '50ms'], ['payload' => 0, 'timeout' => '5s'], ['payload' => 0]]);
$queue->consume(fn (Job $job) => $spin($job->payload), maxJobs: 3);
echo $queue->stats()->acked - $before, " done: neither listeners nor the next jobs were hit\n";
?>
--EXPECT--
outside: nothing
resumed: timed out after 0.1 s
timed out after 0.1 s
a fiber of its own: timed out after 0.1 s
inner: timed out after 0.05 s
outer: timed out after 0.5 s
2 done: neither listeners nor the next jobs were hit
