--TEST--
A heartbeat that renews a neighbour's lease does not shorten one that was touched for longer
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Job;
$queue = queue(['ttr' => 3]);
$queue->pushMany([['payload' => 1, 'id' => 'touched'], ['payload' => 1, 'id' => 'neighbour']]);
$queue->consume(function (Job $job, DelayQueue $queue) {
    if ($job->id === 'neighbour') {
        return;
    }
    $end = $job->touch(100);
    $renewals = 0;
    $until = $queue->peek('neighbour')->leaseUntil;
    for ($deadline = microtime(true) + 30; $renewals < 3 && microtime(true) < $deadline; usleep(10_000)) {
        $now = $queue->peek('neighbour')->leaseUntil;
        $renewals += $now > $until;
        $until = $now;
    }
    echo "the neighbour was renewed $renewals times\n";
    var_dump($job->timeLeft() > 80, abs($queue->peek('touched')->leaseUntil - $end) < 0.001);
}, prefetch: 2, stopWhenEmpty: true);
?>
--EXPECT--
the neighbour was renewed 3 times
bool(true)
bool(true)
