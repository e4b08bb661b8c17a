--TEST--
countDue() counts waiting jobs before each moment, now() is Redis' clock
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Testing;

foreach ([1, 3] as $partitions) {
    $queue = queue(['partitions' => $partitions], "-$partitions");
    $queue->purge();
    $moment = new DateTimeImmutable('2100-01-01 00:00:00.000005 UTC');
    $queue->pushMany(array_map(fn (int $n) => ['payload' => $n, 'delay' => $moment->modify("+$n microseconds"), 'priority' => $n % 3 + 1023], range(0, 9)));
    echo json_encode($queue->countDue($moment, $moment->modify('+1 microsecond'), new DateTime('2101-01-01'))), json_encode($queue->countDue()), "\n";
}
caught(fn () => $queue->countDue($moment, 5));
caught(fn () => $queue->countDue(null));
caught(fn () => offline()->countDue(new DateTime()));
var_dump(offline()->countDue());
[$seconds, $micros] = redis('TIME');
var_dump($queue->now() >= $seconds + $micros / 1e6, $queue->now() - $seconds < 60);
Testing::travel('1h');
var_dump(abs($queue->now() - $seconds - 3600) < 60);
caught(fn () => offline()->now());
?>
--INI--
delayqueue.testing=1
--EXPECT--
[0,1,10][]
[0,1,10][]
TypeError: DelayQueue::countDue(): Argument #2 must be of type DateTimeInterface, int given
TypeError: DelayQueue::countDue(): Argument #1 must be of type DateTimeInterface, null given
DelayQueue\ConnectionException: looking at queue 'offline': cannot connect to redis+unix:///nonexistent/redis.sock?db=0: no such socket: is Redis running, with this 'unixsocket'?
array(0) {
}
bool(true)
bool(true)
bool(true)
DelayQueue\ConnectionException: looking at queue 'offline': cannot connect to redis+unix:///nonexistent/redis.sock?db=0: no such socket: is Redis running, with this 'unixsocket'?
