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
