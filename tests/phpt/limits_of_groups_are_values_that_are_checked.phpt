--TEST--
GroupLimits is a plain value object whose constructor checks each limit
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\GroupLimits;
$show = fn(GroupLimits $limits) => print(json_encode($limits) . "\n");
$show(new GroupLimits());
$show(new GroupLimits(3, '100/1m', 10, 2, false));
$show(new GroupLimits(rate: ' 60 / 60s ', burst: 1));
$show(new GroupLimits(rate: '5/PT30S', burst: 5));
$show(new GroupLimits(rate: '1/0.5'));
$show(new GroupLimits(ordered: true));
$show(new GroupLimits(1, ordered: true));

echo "-- mistakes\n";
caught_each([0, -1, 4294967296], fn($concurrency) => new GroupLimits($concurrency));
caught_each(['', '5', '/1m', '0/1m', '-5/1m', '1.5/1m', '5/0', '5/soon', '5/-1m', '5/1m/2', '5/P1M', "5/1m\0"], fn($rate) => new GroupLimits(rate: $rate));
caught(fn() => new GroupLimits(rate: '5/1m', burst: 0));
caught(fn() => new GroupLimits(burst: 5));
caught(fn() => new GroupLimits(weight: 0));
caught(fn() => new GroupLimits(2, ordered: true));
caught(fn() => new GroupLimits([]));
caught(fn() => new GroupLimits(rate: 5.0));
caught(fn() => new GroupLimits(weight: null));
caught(fn() => new GroupLimits(1, null, null, 1, true, 6));

echo "-- a value\n";
$limits = new GroupLimits(3, '60/60s', 5);
var_dump($limits == new GroupLimits(3, '60/1m', 5), $limits == new GroupLimits(3, '60/1m', 6), clone $limits == $limits, unserialize(serialize($limits)) == $limits);
var_export($limits);
echo "\n";
caught(function () use ($limits) { $limits->weight = 2; });
caught(function () use ($limits) { unset($limits->rate); });
caught(function () use ($limits) { $limits->dynamic = 2; });
caught(fn() => $limits->__construct(4));
var_dump((new ReflectionClass(GroupLimits::class))->isFinal());

echo "-- what no constructor has checked\n";
$queue = offline();
caught(fn() => $queue->limitGroups('a', (new ReflectionClass(GroupLimits::class))->newInstanceWithoutConstructor()));
$bad = ['concurrency";i:3' => 'concurrency";i:0', '60/1m' => '60/0m', 'burst";i:5' => 'burst";i:-5', 'weight";i:1' => 'weight";i:0', 'b:0' => 'b:1', 's:5:"60/1m"' => 'N'];
caught_each(array_keys($bad), fn($good) => $queue->limitGroups('a', unserialize(str_replace($good, $bad[$good], serialize($limits)))));
?>
--EXPECT--
{"concurrency":null,"rate":null,"burst":null,"weight":1,"ordered":false}
{"concurrency":3,"rate":"100\/1m","burst":10,"weight":2,"ordered":false}
{"concurrency":null,"rate":"60\/1m","burst":1,"weight":1,"ordered":false}
{"concurrency":null,"rate":"5\/30s","burst":null,"weight":1,"ordered":false}
{"concurrency":null,"rate":"1\/500ms","burst":null,"weight":1,"ordered":false}
{"concurrency":1,"rate":null,"burst":null,"weight":1,"ordered":true}
{"concurrency":1,"rate":null,"burst":null,"weight":1,"ordered":true}
-- mistakes
0, -1, 4294967296 => DelayQueue\InvalidArgument: DelayQueue\GroupLimits::__construct(): Argument #1 ($concurrency) must be between 1 and 4294967295
'', '5', '/1m', '0/1m', '-5/1m', '1.5/1m', '5/0', '5/soon', '5/-1m', '5/1m/2', '5/P1M', '5/1m' . "\0" . '' => DelayQueue\InvalidArgument: DelayQueue\GroupLimits::__construct(): Argument #2 ($rate) must be a number and a duration, both above 0, such as "100/1m"
DelayQueue\InvalidArgument: DelayQueue\GroupLimits::__construct(): Argument #3 ($burst) must be between 1 and 4294967295
DelayQueue\InvalidArgument: DelayQueue\GroupLimits::__construct(): Argument #3 ($burst) must be null when argument #2 ($rate) is null
DelayQueue\InvalidArgument: DelayQueue\GroupLimits::__construct(): Argument #4 ($weight) must be between 1 and 4294967295
DelayQueue\InvalidArgument: DelayQueue\GroupLimits::__construct(): Argument #1 ($concurrency) must be 1 or null when argument #5 ($ordered) is true
TypeError: DelayQueue\GroupLimits::__construct(): Argument #1 ($concurrency) must be of type ?int, array given
DelayQueue\InvalidArgument: DelayQueue\GroupLimits::__construct(): Argument #2 ($rate) must be a number and a duration, both above 0, such as "100/1m"
TypeError: DelayQueue\GroupLimits::__construct(): Argument #4 ($weight) must be of type int, null given
ArgumentCountError: DelayQueue\GroupLimits::__construct() expects at most 5 arguments, 6 given
-- a value
bool(true)
bool(false)
bool(true)
bool(true)
\DelayQueue\GroupLimits::__set_state(array(
   'concurrency' => 3,
   'rate' => '60/1m',
   'burst' => 5,
   'weight' => 1,
   'ordered' => false,
))
Error: Cannot modify readonly property DelayQueue\GroupLimits::$weight
Error: Cannot unset readonly property DelayQueue\GroupLimits::$rate
Error: Cannot create dynamic property DelayQueue\GroupLimits::$dynamic
Error: Cannot modify readonly property DelayQueue\GroupLimits::$concurrency
bool(true)
-- what no constructor has checked
Error: The DelayQueue\GroupLimits object was not constructed
'concurrency";i:3', '60/1m', 'burst";i:5', 'weight";i:1', 'b:0', 's:5:"60/1m"' => DelayQueue\InvalidArgument: DelayQueue::limitGroups(): Argument #2 ($limits) must have values that its constructor takes
