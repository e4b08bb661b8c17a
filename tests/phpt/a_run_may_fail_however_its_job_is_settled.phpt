--TEST--
ack(failed: true), release() with an error and bury(failed: true) count a failed run, and consume() tells no event of them
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{Event, Job};
$queue = queue();
foreach (Event::cases() as $event) {
    $queue->on($event, function (Event $event, ?Job $job) { if ($job) echo "$event->value | "; });
}
$show = function () use ($queue): void {
    $stats = $queue->stats();
    $runs = array_map(fn(array $times) => $times['count'], $stats->runTimes());
    echo "pushed $stats->pushed, acked $stats->acked, failed $stats->failed; runs ", json_encode(array_filter($runs)), "\n";
};
$run = function (callable $handler) use ($queue, $show): void {
    $queue->consume($handler, maxJobs: 1);
    $job = $queue->peek('j');
    echo $job === null ? 'gone' : "{$job->state->value} $job->attempts " . json_encode($job->lastError), ' | ';
    $show();
};
$queue->push(1, id: 'j', maxAttempts: 1);
$run(fn(Job $job) => $job->release(error: 'no bank'));
$run(fn(Job $job) => $job->release(countAttempt: false, error: 'still none'));
$run(fn(Job $job) => $job->release(countAttempt: false, error: ''));
$run(fn(Job $job) => $job->release(error: null));
$run(fn(Job $job) => $job->bury('no hope', failed: true));
$queue->kickJob('j');
$run(fn(Job $job) => $job->bury('no', failed: false));
$queue->kickJob('j');
$run(fn(Job $job) => $job->ack(failed: true));
$queue->push(1, id: 'j');
$run(fn(Job $job) => $job->ack(failed: false));
preg_match_all('/^delayqueue_(?:(?:pushed|acked|failed)_total|run_seconds_count).*$/m', $queue->stats()->toPrometheus(), $found);
echo implode("\n", $found[0]), "\n";

// The message of an exception is kept as by fail().
$queue->push(1, id: 'k');
$queue->reserve()->release('1h', error: new RuntimeException('redis://user:secret@host is away'));
echo strtok($queue->peek('k')->lastError, "\n"), "\n";
$queue->reserveJob('k')->ack(true);
$queue->push(1);
$job = $queue->reserve();
caught(fn() => $job->release(error: []));
caught(fn() => $job->ack(failed: []));
$job->ack();
?>
--EXPECTF--
processing | ready 1 "no bank" | pushed 1, acked 0, failed 1; runs {"failed":1}
processing | ready 1 "still none" | pushed 1, acked 0, failed 2; runs {"failed":2}
processing | ready 1 "still none" | pushed 1, acked 0, failed 3; runs {"failed":3}
processing | ready 2 "still none" | pushed 1, acked 0, failed 3; runs {"failed":3,"released":1}
processing | buried 3 "no hope" | pushed 1, acked 0, failed 4; runs {"failed":4,"released":1}
processing | buried 1 "no" | pushed 1, acked 0, failed 4; runs {"failed":4,"released":1,"buried":1}
processing | gone | pushed 1, acked 0, failed 5; runs {"failed":5,"released":1,"buried":1}
processing | gone | pushed 2, acked 1, failed 5; runs {"acked":1,"failed":5,"released":1,"buried":1}
delayqueue_pushed_total{queue="%s"} 2
delayqueue_acked_total{queue="%s"} 1
delayqueue_failed_total{queue="%s"} 5
delayqueue_run_seconds_count{queue="%s",outcome="acked"} 1
delayqueue_run_seconds_count{queue="%s",outcome="failed"} 5
delayqueue_run_seconds_count{queue="%s",outcome="released"} 1
delayqueue_run_seconds_count{queue="%s",outcome="buried"} 1
delayqueue_run_seconds_count{queue="%s",outcome="timed_out"} 0
RuntimeException: redis://user:***@host is away
TypeError: DelayQueue\Job::release(): Argument #4 ($error) must be of type Throwable|string|null, array given
TypeError: DelayQueue\Job::ack(): Argument #1 ($failed) must be of type bool, array given
