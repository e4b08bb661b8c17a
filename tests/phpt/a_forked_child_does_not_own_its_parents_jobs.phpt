--TEST--
After a fork the parent's Job is lost to the child, without a word to Redis; each has a connection of its own
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->push('job', id: 'j');
$job = $queue->reserve();
$child = pcntl_fork();
if ($child === 0) {
    caught(fn() => $job->ack());
    caught(fn() => $job->touch());
    var_dump($job->isSettled(), $job->isLost(), $job->timeLeft(), $job->payload, $queue->ackMany($job));
    for ($i = 0; $i < 200; $i++) $queue->push("c$i", id: "c$i");
    exit(0);
}
for ($wrong = $i = 0; $i < 200; $i++) $wrong += $queue->push("p$i", id: "p$i") !== "p$i";
pcntl_waitpid($child, $status);
var_dump($status, $wrong, $job->timeLeft() > 0, count($queue));
$job->ack();
var_dump(count($queue), $queue->purge());
?>
--EXPECT--
DelayQueue\LeaseLostException: the lease of job 'j' in queue 'a_forked_child_does_not_own_its_parents_jobs' is lost: it was reserved by the process this one was forked from
DelayQueue\LeaseLostException: the lease of job 'j' in queue 'a_forked_child_does_not_own_its_parents_jobs' is lost: it was reserved by the process this one was forked from
bool(false)
bool(false)
float(0)
string(3) "job"
int(0)
int(0)
int(0)
bool(true)
int(401)
int(400)
int(400)
