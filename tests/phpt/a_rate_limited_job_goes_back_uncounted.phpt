--TEST--
A handler that throws RateLimited closes the group of its job, another one, or the queue, and the job goes back uncounted
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{Event, GroupLimits, Job, RateLimited, State, Testing};
$queue = queue(['maxAttempts' => 1]);
$push = fn(string ...$ids) => $queue->pushMany(array_map(fn(string $id) => ['payload' => 1, 'id' => $id, 'group' => $id[0]], $ids));
$show = function (string $id) use ($queue): void {
    $job = $queue->peek($id);
    echo "$id {$job->state->value}, attempts $job->attempts, releases $job->releases, ", json_encode($job->lastError), "\n";
};
$left = fn(string $group): float => round($queue->groupStats($group)->closedUntil - $queue->now());

echo "-- a pause is not cut short, and an ordered group goes on with the same job\n";
$queue->limitGroups('o', new GroupLimits(ordered: true));
$push('o1', 'o2');
$queue->consume(function (Job $job) use ($queue) { $queue->pause('1h', 'o'); throw new RateLimited('1s'); }, maxJobs: 1);
var_dump($left('o'));
$queue->resume('o');
echo implode(' ', array_column($queue->reserveMany(5), 'id')), "\n";
$queue->purge();
$queue->limitGroups('o');

echo "-- listeners and counters\n";
$before = $queue->stats()->runTimes(true);
$queue->on(Event::Released, fn(Event $event, Job $job, Throwable $error) => print('released ' . get_parent_class($error) . " $job->id\n"));
$queue->on(Event::Failed, fn() => print("failed\n"));
$push('c1');
$queue->drain(fn() => throw new class('1m', message: 'later') extends RateLimited {});
var_dump($queue->stats()->runTimes(true)['released'] === $before['released'], $queue->stats()->failed);
$queue->drain(fn(Job $job) => print("is not reached\n"));
$queue->resume('c');

echo "-- a job that was settled or cancelled is left alone\n";
$queue->drain(function (Job $job) { $job->bury('mine'); throw new RateLimited('1m', message: 'ignored'); });
$show('c1');
var_dump($queue->isPaused('c'));
$push('c2');
$queue->drain(function (Job $job) use ($queue) { $queue->cancel('c2'); throw new RateLimited('1m'); });
var_dump($queue->peek('c2'));
$queue->resume('c');

echo "-- the limit is first\n";
$push('m1');
$monitor = stream_socket_client('unix://' . substr(getenv('DELAYQUEUE_TEST_DSN'), strlen('redis+unix://')));
fwrite($monitor, "MONITOR\r\n");
fgets($monitor);
$queue->drain(fn() => throw new RateLimited(4711, message: 'the reason'));
redis('PING');
$orders = [];
while (!str_contains($line = fgets($monitor), '"PING"')) {
    foreach (['limits' => '"4711000000" "m"', 'gives back' => '"the reason"'] as $what => $words) {
        if (str_contains($line, $words)) {
            $orders[] = $what;
        }
    }
}
echo implode(', ', $orders), "\n";
$queue->purge();

echo "-- in the partition of the group that is named\n";
$spread = queue(['partitions' => 8], '-spread');
foreach (range('a', 'h') as $group) {
    $spread->push(1, id: "job-$group", group: $group);
}
$elsewhere = fn(string $group): bool => $spread->isPaused("not-$group");
$spread->consume(fn(Job $job) => throw new RateLimited('1h', "not-$job->group"), maxJobs: 8, prefetch: 8);
$spread->drain(fn(Job $job) => throw new RateLimited('1h'), 8);
var_dump(array_filter(array_map($elsewhere, range('a', 'h'))) !== [], array_map($spread->isPaused(...), range('a', 'h')) === array_fill(0, 8, true), count($spread));

echo "-- of a queue that is watched\n";
array_map($spread->resume(...), range('a', 'h'));
$watching = queue(['partitions' => 8])->watch($spread->name());
$watching->drain(fn(Job $job) => throw new RateLimited('1h'));
var_dump($watching->isPaused('a'), array_map($spread->isPaused(...), range('a', 'h')) === array_fill(0, 8, true));
$spread->push(1, id: 'alone');
$watching->consume(fn(Job $job) => throw new RateLimited('1h'), maxJobs: 1);
var_dump($spread->isPaused(), $watching->isPaused());
$spread->resume();
$spread->purge();
?>
--EXPECT--
-- a pause is not cut short, and an ordered group goes on with the same job
float(3600)
o1
-- listeners and counters
released DelayQueue\RateLimited c1
bool(true)
int(0)
-- a job that was settled or cancelled is left alone
c1 buried, attempts 1, releases 0, "mine"
bool(false)
NULL
-- the limit is first
released DelayQueue\Release m1
limits, gives back
-- in the partition of the group that is named
bool(true)
bool(true)
int(8)
-- of a queue that is watched
bool(false)
bool(true)
bool(true)
bool(false)
