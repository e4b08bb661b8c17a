--TEST--
An ordered group runs one job at a time, and waits for the retry of a job that comes back
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{Backoff, GroupLimits, State, Testing};
$queue = queue();
$queue->limitGroups(limits: new GroupLimits(ordered: true));
$push = fn(string ...$ids) => $queue->pushMany(array_map(fn(string $id) => ['payload' => 1, 'id' => $id, 'group' => $id[0], 'backoff' => Backoff::fixed('10m'), 'maxAttempts' => 2], $ids));
$next = fn(): string => $queue->reserve()?->id ?? 'none';
$state = function (string $id) use ($queue): string {
    $job = $queue->peek($id);
    return $job->state->value . ' for ' . round($job->dueAt - $queue->now()) . ' s';
};

echo "-- one at a time\n";
$push('a1', 'a2', 'a3', 'b1');
$job = $queue->reserve();
echo $job->id, ' ', $next(), ' ', $next(), "\n";

echo "-- its retry holds up the group, and says until when\n";
$job->fail('no bank');
$queue->push(1, id: 'a0', group: 'a', priority: 1);
echo $next(), ' ', $state('a1'), ' ', json_encode(array_column($queue->list(State::Delayed, group: 'a'), 'id')), ' ', json_encode(array_column($queue->list(State::Ready, group: 'a'), 'id')), "\n";
$stats = $queue->groupStats('a');
echo $stats->waiting, ' ', $stats->reserved, ' ', round($stats->nextTurnAt - $queue->now()), ' ', json_encode([$stats->closedUntil, $stats->paused]), "\n";
echo $queue->stats()->blocked, "\n";
Testing::travel('10m');
$job = $queue->reserve();
echo $job->id, ' attempt ', $job->attempts, "\n";

echo "-- a release, and an expired lease, do, too; a buried job does not\n";
$job->release('1m');
echo $next(), ' ', $state('a1'), "\n";
Testing::travel('1m');
$job = $queue->reserve();
echo $job->id, ' ';
$job->fail('for good');
echo $queue->peek('a1')->state->value, ' ', $next(), ' ';
Testing::travel('61s');
echo $next(), "\n";

echo "-- a kicked one is the last of its group\n";
$queue->peek('a0') && $queue->cancel('a0');
$queue->kickJob('a1');
echo json_encode(array_column($queue->list(State::Ready, group: 'a'), 'id')), "\n";

foreach (['cancel' => fn() => $queue->cancel('c1'), 'kick' => fn() => $queue->kickJob('c1'), 'reschedule' => fn() => $queue->reschedule('c1', '1h')] as $name => $change) {
    echo "-- $name of the one that is awaited: ";
    $queue->purge();
    $push('c1', 'c2');
    $queue->reserve()->fail();
    echo $next(), ' ';
    $change();
    echo $next(), "\n";
}

echo "-- with a concurrency of 1 alone the others pass: ";
$queue->purge();
$queue->limitGroups(limits: new GroupLimits(1));
$push('d1', 'd2');
$queue->reserve()->fail();
echo $next(), "\n";
?>
--EXPECT--
-- one at a time
a1 b1 none
-- its retry holds up the group, and says until when
none delayed for 600 s ["a1"] ["a0","a2","a3"]
4 0 600 [null,false]
3
a1 attempt 2
-- a release, and an expired lease, do, too; a buried job does not
b1 delayed for 60 s
a1 buried a0 a0
-- a kicked one is the last of its group
["a2","a3","a1"]
-- cancel of the one that is awaited: none c2
-- kick of the one that is awaited: none c1
-- reschedule of the one that is awaited: none c2
-- with a concurrency of 1 alone the others pass: d2
