--TEST--
In a loop, a touch() sets the end of the lease, and the lease is renewed from there
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->push('held', id: 'held', ttr: 60);
$queue->on(DelayQueue\Event::LeaseLost, fn () => print("lost\n"));
$queue->consume(function (DelayQueue\Job $job, DelayQueue $queue) {
    $left = fn (float $least, float $most) => $job->timeLeft() > $least && $job->timeLeft() <= $most ? "as touched\n" : $job->timeLeft() . "\n";
    $job->touch(600);
    echo $left(590, 600);
    $job->touch(0.5);
    for ($end = microtime(true) + 1.5; microtime(true) < $end; usleep(10_000)) {
        $queue->reserve() && print("taken by another\n");
    }
    echo $left(50, 60);
}, maxJobs: 1);
echo count($queue), " left\n";
?>
--EXPECT--
as touched
as touched
0 left
