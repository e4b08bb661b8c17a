--TEST--
capacity: a push or a chunk that would pass it throws a QueueFullException with the numbers, and changes nothing
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\QueueFullException;
function full(callable $push): void
{
    try {
        $push();
        echo "stored\n";
    } catch (QueueFullException $full) {
        echo $full->redisCode, ' ', $full->getMessage(), ' (', count($full->stored), " before)\n";
    }
}
$queue = queue(['capacity' => 501]);
full(fn() => $queue->pushMany(array_fill(0, 700, ['payload' => 1])));
var_dump(count($queue));
$queue->push(1, id: 'a');
full(fn() => $queue->push(1, id: 'b'));
full(fn() => $queue->tryPush(1, id: 'b'));
full(fn() => $queue->producer('b', 1, []));
full(fn() => $queue->pushMany([['payload' => 1], ['payload' => 2]]));
full(fn() => $queue->pushOnce([['receipt' => 'r', 'payload' => 1]]));
full(fn() => queue()->push(1));
var_dump(count($queue));

// Each partition has its share, rounded up.
$spread = queue(['capacity' => 5, 'partitions' => 2], '_spread');
foreach (range(1, 20) as $n) {
    try {
        $spread->push($n, id: "$n");
    } catch (QueueFullException) {
    }
}
var_dump(count($spread));
foreach ([0, -1, 'many', []] as $capacity) {
    caught(fn() => offline(['capacity' => $capacity]));
}
caught(fn() => offline(['capacity' => null]));
?>
--EXPECT--
DQCAPACITY pushing jobs to queue 'a_full_queue_refuses_new_jobs', 500 of which are stored: the queue holds 500 jobs, and with 200 more it would pass its capacity of 501 (500 before)
int(500)
DQCAPACITY pushing job 'b' to queue 'a_full_queue_refuses_new_jobs': the queue holds 501 jobs, and with 1 more it would pass its capacity of 501 (0 before)
DQCAPACITY pushing job 'b' to queue 'a_full_queue_refuses_new_jobs': the queue holds 501 jobs, and with 1 more it would pass its capacity of 501 (0 before)
DQCAPACITY pushing job 'b' to queue 'a_full_queue_refuses_new_jobs': the queue holds 501 jobs, and with 1 more it would pass its capacity of 501 (0 before)
DQCAPACITY pushing 2 jobs to queue 'a_full_queue_refuses_new_jobs': the queue holds 501 jobs, and with 2 more it would pass its capacity of 501 (0 before)
stored
stored
int(503)
int(6)
ValueError: DelayQueue::__construct(): Option "capacity" must be greater than or equal to 1
ValueError: DelayQueue::__construct(): Option "capacity" must be greater than or equal to 1
TypeError: DelayQueue::__construct(): Option "capacity" must be of type int, string given
TypeError: DelayQueue::__construct(): Option "capacity" must be of type int, array given
no exception: DelayQueue
