--TEST--
A waiting reserve() gets a delayed job in its moment, and one that another process pushes
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->push('due', 0.15);
$job = $queue->reserve(5);
var_dump($job->payload, $job->reservedAt >= $job->dueAt, $job->reservedAt - $job->dueAt < 1);
$job->ack();
$child = pcntl_fork();
if ($child === 0) {
    usleep(150_000);
    queue()->push('from the child');
    exit(0);
}
$start = hrtime(true);
var_dump($queue->reserve(null)->payload, (hrtime(true) - $start) / 1e9 < 3);
pcntl_waitpid($child, $status);
var_dump($status);
$queue->purge();
?>
--EXPECT--
string(3) "due"
bool(true)
bool(true)
string(14) "from the child"
bool(true)
int(0)
