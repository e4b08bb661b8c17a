--TEST--
After a fork the parent's Job is lost to the child, without a word to Redis
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->push('job', id: 'j');
$job = $queue->reserve();
$child = pcntl_fork();
if ($child === 0) {
    caught_each(['ack', 'touch', 'release', 'fail', 'bury'], fn($method) => $job->$method());
    var_dump($job->isSettled(), $job->isLost(), $job->timeLeft(), $job->payload, $queue->ackMany($job));
    exit(0);
}
pcntl_waitpid($child, $status);
var_dump($status, $job->timeLeft() > 0, $job->isLost(), $job->isSettled());
$job->ack();
var_dump(count($queue));
?>
--EXPECT--
'ack', 'touch', 'release', 'fail', 'bury' => DelayQueue\LeaseLostException: the lease of job 'j' in queue 'a_forked_child_does_not_own_its_parents_jobs' is lost: it was reserved by the process this one was forked from
bool(false)
bool(false)
float(0)
string(3) "job"
int(0)
int(0)
bool(true)
bool(false)
bool(false)
int(0)
