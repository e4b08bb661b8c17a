--TEST--
pushMany() reads a Traversable chunk by chunk: 500 jobs are sent before the next is read
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$counts = [];
$ids = $queue->pushMany((function () use ($queue, &$counts) {
    foreach (range(1, 1001) as $n) {
        if ($n % 250 === 1) $counts[] = count($queue);
        yield "same key" => ['payload' => $n];
    }
})());
var_dump(count($ids), implode(' ', $counts), count($queue));
$queue->purge();
$given = new ArrayIterator([['payload' => 1], ['payload' => 2]]);
var_dump(count($queue->pushMany($given)), count($queue->pushMany(new IteratorIterator($given))));
class Jobs implements IteratorAggregate { function getIterator(): Iterator { yield ['payload' => 3]; yield from [['payload' => 4]]; } }
class Broken implements IteratorAggregate { function getIterator(): Iterator { throw new LogicException('no iterator'); } }
var_dump(count($queue->pushMany(new Jobs)));
caught(fn() => $queue->pushMany(new Broken));
caught(fn() => $queue->pushMany((function () { yield ['payload' => 1]; throw new LogicException('second'); })()));
caught(fn() => $queue->pushMany((function () { yield ['payload' => 1]; yield ['payload' => 2, 'delay' => -1]; })()));
$closed = (function () { yield ['payload' => 1]; })();
foreach ($closed as $_);
caught(fn() => $queue->pushMany($closed));
var_dump(count($queue));
// Ids that the queue knows refuse their whole chunk.
caught(fn() => $queue->pushMany([['payload' => 1, 'id' => 'x'], ['payload' => 2, 'id' => 'x']]));
var_dump(count($queue));
$item = ['payload' => 5];
$list = [&$item];
var_dump(count($queue->pushMany($list)));
$queue->purge();
?>
--EXPECT--
int(1001)
string(16) "0 0 500 500 1000"
int(1001)
int(2)
int(2)
int(2)
LogicException: no iterator
LogicException: second
DelayQueue\InvalidArgument: DelayQueue::pushMany(): Argument #1 ($jobs) item 1: "delay" must be greater than or equal to 0
Exception: Cannot traverse an already closed generator
int(6)
DelayQueue\DuplicateJobException: items 0 and 1 have the same id 'x'
int(6)
int(1)
