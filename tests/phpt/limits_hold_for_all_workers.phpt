--TEST--
Limits: a job that may not be served is not ready, burns no attempt, and counts as blocked
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{GroupLimits, Job, Testing};
$queue = queue(['ttr' => '1d']); // travels end no lease
$other = $queue->sibling($queue->name(), ['persistent' => false]);
$ids = fn(array $jobs): string => implode(' ', array_column($jobs, 'id'));
$show = function () use ($queue): void {
    $stats = $queue->stats();
    echo "ready $stats->ready, blocked $stats->blocked, reserved $stats->reserved, oldest ", $stats->oldestReadyAge === null ? 'none' : 'some', "\n";
};

echo "-- concurrency\n";
$queue->limitGroups('a', new GroupLimits(2));
$queue->pushMany(array_map(fn(int $n) => ['payload' => $n, 'id' => "a$n", 'group' => 'a'], range(1, 5)));
$jobs = $queue->reserveMany(10);
echo $ids($jobs), "\n";
$show();
var_dump($other->reserve(), $other->wait(0), $other->drain(fn() => true));
$jobs[0]->ack();
var_dump($other->wait(0), $other->reserve()->id, $other->peek('a4')->attempts);
// It passes over the limit, and counts against it.
$taken = $other->reserveJob('a5');
var_dump($taken->id, $queue->groupStats('a')->reserved, $queue->reserve());
$taken->ack();
$queue->limitGroups('a', new GroupLimits(3));
var_dump($queue->reserve()->id);
var_dump($queue->cancelGroup('a', reserved: true));
$queue->limitGroups('a');

echo "-- of all groups without limits of their own\n";
$queue->limitGroups(limits: new GroupLimits(1));
$queue->limitGroups('wide', new GroupLimits(2));
$queue->pushMany(array_map(fn(string $id) => ['payload' => 1, 'id' => $id, 'group' => strtok($id, '-')], ['x-1', 'x-2', 'y-1', 'y-2', 'wide-1', 'wide-2', 'wide-3']));
$queue->push(1, id: 'alone');
$queue->push(1, id: 'alone-2');
$jobs = $queue->reserveMany(10);
$got = array_column($jobs, 'id');
sort($got);
echo implode(' ', $got), "\n";
$show();
$limits = $queue->limits();
var_dump($limits['others'] == new GroupLimits(1), $limits['groups'] == ['wide' => new GroupLimits(2)], $limits['queue']);
$queue->limitGroups();
$queue->limitGroups('wide');
echo $ids($queue->reserveMany(10)), "\n";
echo json_encode($queue->limits()), "\n";
$queue->purge();

echo "-- a rate\n";
$queue->limitGroups('r', new GroupLimits(rate: '2/1h'));
$queue->pushMany(array_map(fn(int $n) => ['payload' => $n, 'id' => "r$n", 'group' => 'r'], range(1, 5)));
echo $ids($queue->reserveMany(10)), "\n";
$show();
$in = $queue->groupStats('r')->nextTurnAt - $queue->now();
var_dump($in > 1790 && $in <= 1800);
// A handler's release gives no token back.
$queue->reserveJob('r5')->release(countAttempt: false);
Testing::travel('31m');
var_dump($queue->reserve());
Testing::travel('30m');
echo $ids($queue->reserveMany(10)), "\n";
$queue->limitGroups('r', new GroupLimits(rate: '2/1h', burst: 1));
Testing::travel('5h');
echo count($queue->reserveMany(10)), "\n";
var_dump($queue->limits()['groups'] == ['r' => new GroupLimits(rate: '2/1h', burst: 1)]);
$queue->limitGroups('r');
$queue->purge();
Testing::travelBack();

echo "-- the queue\n";
$queue->limitQueue(2);
$queue->pushMany([['payload' => 1, 'id' => 'a1', 'group' => 'a'], ['payload' => 1, 'id' => 'plain'], ['payload' => 1, 'id' => 'b1', 'group' => 'b']]);
$jobs = $queue->reserveMany(10);
echo $ids($jobs), "\n";
var_dump($queue->reserve(), $queue->limits()['queue'] == new GroupLimits(2));
$jobs[1]->ack();
echo $ids($queue->reserveMany(10)), "\n";
$queue->limitQueue(null, '1/1h', 1);
$queue->purge();
$queue->pushMany([['payload' => 1], ['payload' => 2]]);
echo count($queue->reserveMany(10)), "\n";
var_dump($queue->limits()['queue'] == new GroupLimits(null, '1/1h', 1));
$queue->limitQueue();
echo count($queue->reserveMany(10)), ' ', json_encode($queue->limits()['queue']), "\n";
$queue->purge();

echo "-- names of limits\n";
foreach (['7', "\xff", 'ü', '-'] as $name) {
    $queue->limitGroups($name, new GroupLimits(7));
}
var_dump(array_map(fn(int|string $name): int|string => is_int($name) ? $name : bin2hex($name), array_keys($queue->limits()['groups'])));

echo "-- in a loop\n";
$queue->limitGroups('a', new GroupLimits(1));
$queue->pushMany(array_map(fn(int $n) => ['payload' => $n, 'id' => "a$n", 'group' => 'a'], range(1, 3)));
$held = $queue->reserve();
var_dump($other->consume(fn() => true, stopWhenEmpty: true));
$held->ack();
var_dump($other->drain(fn(Job $job) => print("$job->id of $job->group\n")));
?>
--EXPECT--
-- concurrency
a1 a2
ready 3, blocked 3, reserved 2, oldest none
NULL
bool(false)
int(0)
bool(true)
string(2) "a3"
int(0)
string(2) "a5"
int(3)
NULL
string(2) "a4"
int(3)
-- of all groups without limits of their own
alone alone-2 wide-1 wide-2 x-1 y-1
ready 3, blocked 3, reserved 6, oldest none
bool(true)
bool(true)
NULL
x-2 y-2 wide-3
{"queue":null,"others":null,"groups":[]}
-- a rate
r1 r2
ready 3, blocked 3, reserved 2, oldest none
bool(true)
NULL
r3
1
bool(true)
-- the queue
a1 plain
NULL
bool(true)
b1
1
bool(true)
1 null
-- names of limits
array(4) {
  [0]=>
  string(2) "2d"
  [1]=>
  int(7)
  [2]=>
  string(4) "c3bc"
  [3]=>
  string(2) "ff"
}
-- in a loop
enum(DelayQueue\StopReason::Empty)
a2 of a
a3 of a
int(2)
