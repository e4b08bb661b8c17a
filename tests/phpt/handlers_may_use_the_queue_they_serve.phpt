--TEST--
A handler may push, reserve, settle, and work off jobs with the queue that called it
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Job;
$queue = queue();
$queue->push(3, id: 'outer');
$log = [];
$queue->consume(function (Job $job, DelayQueue $same) use (&$log, $queue) {
    $log[] = "$job->id $job->payload";
    if ($job->payload > 0) {
        $same->push($job->payload - 1, id: "$job->id+");
    }
    if ($job->id === 'outer') {
        $log[] = 'same object: ' . json_encode($same === $queue);
        $same->push('a', id: 'inner');
        $inner = $same->reserveJob('inner');
        $log[] = 'reserved ' . $inner->payload;
        $inner->ack();
        $same->push(0, id: 'drained');
        $same->reschedule('outer+', '1h');
        $log[] = 'drained ' . $same->drain(fn (Job $job) => null) . ', prefetched ' . count($same->reserveMany(5));
        $same->reschedule('outer+', 0);
    }
    if ($job->id === 'outer+') {
        $reason = $same->consume(fn (Job $job) => $GLOBALS['nested'] = $job->id, maxJobs: 1, prefetch: 3, timeout: 5);
        $log[] = "nested $GLOBALS[nested]: $reason->name";
    }
}, stopWhenEmpty: true, timeout: 30);
echo implode("\n", $log), "\n", count($queue), " left\n";
?>
--EXPECT--
outer 3
same object: true
reserved a
drained 1, prefetched 0
outer+ 2
nested outer++: MaxJobs
0 left
