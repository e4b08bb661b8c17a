--TEST--
memory://: a child that was forked is told that the jobs are its parent's, and has stores of its own
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';

$queue = new DelayQueue('orders', 'memory://parent');
$queue->push('a');
$job = $queue->reserve();
$child = pcntl_fork();
if ($child === 0) {
    caught(fn () => $queue->push('b', id: 'b'));
    caught(fn () => (new DelayQueue('orders', 'memory://parent'))->count());
    caught(fn () => DelayQueue\Testing::forgetMemory('parent'));
    $own = new DelayQueue('orders', 'memory://child');
    $own->push('c');
    var_dump($own->reserve()->payload);
    exit(0);
}
pcntl_waitpid($child, $status);
var_dump($status);
$job->ack();
$queue->push('d');
var_dump($queue->count(), $queue->stats()->acked);
?>
--EXPECT--
DelayQueue\ConnectionException: pushing job 'b' to queue 'orders': cannot connect to memory://parent: its jobs are in the memory of the process that forked this one: give the child a name of its own, such as memory://child, or use Redis
DelayQueue\ConnectionException: looking at queue 'orders': cannot connect to memory://parent: its jobs are in the memory of the process that forked this one: give the child a name of its own, such as memory://child, or use Redis
Error: memory://parent cannot be forgotten: its jobs are in the memory of the process that forked this one: give the child a name of its own, such as memory://child, or use Redis
string(1) "c"
int(0)
int(1)
int(1)
