--TEST--
capacity: a chunk that would pass it throws a QueueFullException with the numbers; each partition has its share
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\QueueFullException;
$queue = queue(['capacity' => 501]);
try {
    $queue->pushMany(array_fill(0, 700, ['payload' => 1]));
} catch (QueueFullException $full) {
    echo $full->redisCode, ' ', $full->getMessage(), ' (', count($full->stored), " before)\n";
}
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
?>
--EXPECT--
DQCAPACITY pushing jobs to queue 'a_full_queue_refuses_new_jobs', 500 of which are stored: the queue holds 500 jobs, and with 200 more it would pass its capacity of 501 (500 before)
int(500)
int(6)
