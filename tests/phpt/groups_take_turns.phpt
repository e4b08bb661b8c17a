--TEST--
Groups take turns, however many jobs each has; within a group jobs come by priority, due time and id
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{GroupLimits, OnDuplicate, State, Testing};
$queue = queue();
$served = function (int $most = 100) use ($queue): void {
    $ids = [];
    while (count($ids) < $most && ($job = $queue->reserve())) {
        $ids[] = $job->id;
        $job->ack();
    }
    echo implode(' ', $ids), "\n";
};
$push = fn(string $id, ?string $group = null, mixed ...$more) => $queue->push(1, ...$more, id: $id, group: $group);

echo "-- turns: ";
foreach (range(1, 6) as $n) {
    $push("big$n", 'big');
}
$push('small1', 'small');
$push('alone');
$push('small2', 'small');
$served();

echo "-- in one batch: ";
$queue->pushMany(array_map(fn(string $id) => ['payload' => 1, 'id' => $id, 'group' => $id[0]], ['a1', 'a2', 'a3', 'a4', 'b1', 'c1', 'c2']));
$jobs = $queue->reserveMany(5);
echo implode(' ', array_column($jobs, 'id')), ', of ', implode(' ', array_column($jobs, 'group')), "\n";
$queue->ackMany(...$jobs);
$queue->purge();

echo "-- priority orders a group, and puts none before another: ";
foreach (['a1', 'a2', 'b1'] as $id) {
    $push($id, $id[0]);
}
$push('b-urgent', 'b', priority: 1);
$push('a-lazy', 'a', priority: 5000);
$push('a-urgent', 'a', priority: 1);
$served();

echo "-- more urgent jobs without a group come first, less urgent ones last: ";
$push('lazy', priority: 5000);
$push('a1', 'a');
$push('urgent', priority: 1);
$served();

echo "-- weight: ";
$queue->limitGroups('heavy', new GroupLimits(weight: 2));
foreach (range(1, 4) as $n) {
    $push("heavy$n", 'heavy');
    $push("light$n", 'light');
}
$served();
$queue->limitGroups('heavy');

echo "-- delayed jobs: ";
$push('later', 'a', delay: '1h');
$push('soon', 'a', delay: '1m');
$push('first', 'a');
$served();
Testing::travel('1m');
$served();
Testing::travel('1h');
$served();

echo "-- a job keeps its group, unless it is replaced: ";
$push('moves', 'a');
$queue->update('moves', 2);
echo $queue->peek('moves')->group, ' ';
$push('moves', 'b', onDuplicate: OnDuplicate::Keep);
echo $queue->peek('moves')->group, ' ';
$push('moves', 'b', onDuplicate: OnDuplicate::Replace);
echo $queue->peek('moves')->group, ' ';
$push('moves', null, onDuplicate: OnDuplicate::Replace);
echo json_encode($queue->peek('moves')->group), ' ', json_encode($queue->groups()), "\n";
$queue->purge();

echo "-- every way to look and to take: ";
$push('a1', 'a');
echo $queue->peekReady()->group, ' ', $queue->list(State::Ready)[0]->group, ' ', count($queue), ' ', $queue->count(State::Ready), ' ';
$push('a2', 'a', delay: 60);
echo $queue->peekDelayed()->id, ' ', $queue->count(State::Delayed), ' ', json_encode($queue->wait(0)), ' ', $queue->reserveJob('a2')->group, ' ';
echo json_encode($queue->consumer()), ' ', $queue->purge(), "\n";
?>
--EXPECT--
-- turns: big1 small1 alone big2 small2 big3 big4 big5 big6
-- in one batch: a1 b1 c1 a2 c2, of a b c a c
-- priority orders a group, and puts none before another: a-urgent b-urgent a1 b1 a2 a-lazy
-- more urgent jobs without a group come first, less urgent ones last: urgent a1 lazy
-- weight: heavy1 heavy2 light1 heavy3 heavy4 light2 light3 light4
-- delayed jobs: first
soon
later
-- a job keeps its group, unless it is replaced: a a b null []
-- every way to look and to take: a a 1 1 a2 1 true a [1] 1
