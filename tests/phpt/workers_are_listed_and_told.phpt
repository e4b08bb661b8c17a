--TEST--
workers() lists the loops that run, and tellWorkers() gives them orders
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\WorkerOrder;
$queue = queue(['prefix' => 'workers.phpt']);
$dsn = getenv('DELAYQUEUE_TEST_DSN');
var_dump($queue->workers(), $queue->tellWorkers(WorkerOrder::Stop));

// A job that runs for more than a second is in the list, and its worker hears orders while it runs.
$queue->push('a', id: 'a');
$seen = null;
$reason = $queue->consume(function () use ($queue, $dsn, &$seen) {
    $until = microtime(true) + 20;
    while (($seen = $queue->workers()[0] ?? null) === null && microtime(true) < $until) {
        usleep(20_000);
    }
    // Of this queue, and of no other.
    echo json_encode($queue->stats()->workers), ' ', array_sum((new DelayQueue('other', $dsn, ['prefix' => 'workers.phpt']))->stats()->workers), "\n";
    echo $queue->tellWorkers(WorkerOrder::Stop, gethostname() . '-not'), $queue->tellWorkers(WorkerOrder::Stop, $seen['host'], 1), "\n";
    echo $queue->tellWorkers(WorkerOrder::Restart, $seen['host'], getmypid(), $queue->name()), "\n";
    $told = $queue->workers($seen['host'], getmypid(), $queue->name())[0]['orders'];
    echo count($queue->workers(gethostname() . '-not')), count($queue->workers($seen['host'], 1)), count($queue->workers(queue: 'other')), "\n";
    while ($queue->workers()[0]['state'] !== 'stopping' && microtime(true) < $until) {
        usleep(20_000);
    }
    echo implode($told), ' ', $queue->workers()[0]['state'], "\n";
}, maxJobs: 5);
echo $reason->name, ', ', count($queue), " left\n";
echo implode(' ', array_keys($seen)), "\n";
var_dump($seen['pid'] === getmypid(), $seen['queues'], $seen['version'] === DelayQueue::VERSION, $seen['memory'] > 1e6);
var_dump(abs($seen['startedAt'] - microtime(true)) < 60, $seen['seenAt'] > $seen['startedAt'], $queue->workers());

caught(fn () => $queue->tellWorkers('stop'));
caught(fn () => $queue->tellWorkers(WorkerOrder::Stop, pid: 7));
caught(fn () => $queue->tellWorkers(WorkerOrder::Stop, queue: 'a b'));
caught(fn () => $queue->workers(pid: 7));
caught(fn () => offline()->workers());
caught(fn () => offline()->tellWorkers(WorkerOrder::Stop));
?>
--EXPECTF--
array(0) {
}
int(0)
{"idle":0,"working":1,"paused":0,"stopping":0} 0
00
1
000
restart stopping
Restart, 0 left
host pid kind state queues job memory version startedAt seenAt orders
bool(true)
array(1) {
  [0]=>
  string(27) "workers_are_listed_and_told"
}
bool(true)
bool(true)
bool(true)
bool(true)
array(0) {
}
TypeError: DelayQueue::tellWorkers(): Argument #1 ($order) must be of type DelayQueue\WorkerOrder, string given
DelayQueue\InvalidArgument: DelayQueue::tellWorkers(): Argument #3 ($pid) must be null when argument #2 ($host) is null
DelayQueue\InvalidArgument: DelayQueue::tellWorkers(): Argument #4 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
DelayQueue\InvalidArgument: DelayQueue::workers(): Argument #2 ($pid) must be null when argument #1 ($host) is null
DelayQueue\ConnectionException: looking at the list of workers: %s
DelayQueue\ConnectionException: looking at the list of workers: %s
