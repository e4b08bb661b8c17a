--TEST--
Groups: jobs tell theirs, names are checked as ids are, and mistakes are found before anything is sent
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{OnDuplicate, Testing};
// Sending would throw a ConnectionException.
$queue = offline();

echo "-- names\n";
caught_each(["a\x7f", []], fn($bad) => $queue->push(1, group: $bad));
caught(fn() => $queue->prepare(1, group: "\n"));
caught(fn() => $queue->groupStats(null));
caught(fn() => $queue->pause(1, 'a good one'));

echo "-- other arguments\n";
caught_each([-1, NAN, 'soon', [], 1893456000], fn($bad) => $queue->rateLimit($bad));
caught(fn() => $queue->rateLimit());
caught(fn() => $queue->limitGroups('g', 5));
caught(fn() => $queue->limitQueue(0));
caught(fn() => $queue->limitQueue(1, 'fast'));
caught(fn() => $queue->limitQueue(1, '5/1s', 0));
caught(fn() => offline(['partitions' => 2])->limitQueue());
caught(fn() => $queue->groups(1, []));

echo "-- jobs\n";
echo json_encode([$queue->prepare(1)->group, $queue->prepare(1, group: 'tenant-42')->group]), "\n";
echo json_encode([Testing::job(1)->group, Testing::job(1, group: 'tenant-42')->group]), "\n";
caught(fn() => Testing::job(1, group: ''));
$made = $queue->prepare(1, id: 'x', group: "\xff", onDuplicate: OnDuplicate::Replace, maxWait: 5, expires: 60);
echo json_encode([bin2hex($made->group), Testing::jobInfo()->group, Testing::jobInfo(['group' => 'other'])->group]), "\n";
// It travels with the moments of a job, and one that is named wins.
$memory = new DelayQueue('q', 'memory://');
$memory->pushMany([['payload' => 1, 'id' => 'a', 'extras' => $made->extras], ['payload' => 1, 'id' => 'b', 'group' => 'new', 'extras' => $made->extras]]);
echo json_encode([bin2hex($memory->peek('a')->group), $memory->peek('b')->group, $memory->peek('b')->expiresAt !== null]), "\n";

echo "-- numbers\n";
echo json_encode([Testing::groupStats(), Testing::groupStats(3, 1, 1.5, 2, true)]), "\n";
caught(fn() => Testing::groupStats(-1));
caught(fn() => Testing::groupStats(closedUntil: 'soon'));
var_dump(Testing::stats(['ready' => 5, 'blocked' => 3])->blocked, Testing::stats()->blocked);
echo implode("\n", preg_grep('/blocked/', explode("\n", Testing::stats(['blocked' => 3], 'mails')->toPrometheus()))), "\n";
?>
--EXPECT--
-- names
'a\177' => ValueError: DelayQueue::push(): Argument #16 ($group) must not contain control characters
array (\n) => TypeError: DelayQueue::push(): Argument #16 ($group) must be of type ?string, array given
ValueError: DelayQueue::prepare(): Argument #16 ($group) must not contain control characters
TypeError: DelayQueue::groupStats(): Argument #1 ($group) must be of type string, null given
DelayQueue\ConnectionException: pausing group 'a good one' of queue 'offline': cannot connect to redis+unix:///nonexistent/redis.sock?db=0: no such socket: is Redis running, with this 'unixsocket'?
-- other arguments
-1 => ValueError: DelayQueue::rateLimit(): Argument #1 ($for) must be greater than or equal to 0
NAN => ValueError: DelayQueue::rateLimit(): Argument #1 ($for) must be finite
'soon' => ValueError: DelayQueue::rateLimit(): Argument #1 ($for) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
array (\n) => TypeError: DelayQueue::rateLimit(): Argument #1 ($for) must be of type DateInterval|string|int|float, array given
1893456000 => ValueError: DelayQueue::rateLimit(): Argument #1 ($for) must be a delay, and 1893456000 looks like a Unix time: for a moment give 1893456000 - time()
ArgumentCountError: DelayQueue::rateLimit() expects at least 1 argument, 0 given
TypeError: DelayQueue::limitGroups(): Argument #2 ($limits) must be of type ?DelayQueue\GroupLimits, int given
ValueError: DelayQueue::limitQueue(): Argument #1 ($concurrency) must be between 1 and 4294967295
ValueError: DelayQueue::limitQueue(): Argument #2 ($rate) must be a number and a duration, both above 0, such as "100/1m"
ValueError: DelayQueue::limitQueue(): Argument #3 ($burst) must be between 1 and 4294967295
DelayQueue\ConnectionException: limiting queue 'offline': cannot connect to redis+unix:///nonexistent/redis.sock?db=0: no such socket: is Redis running, with this 'unixsocket'?
TypeError: DelayQueue::groups(): Argument #2 ($after) must be of type string, array given
-- jobs
[null,"tenant-42"]
[null,"tenant-42"]
ValueError: DelayQueue\Testing::job(): Argument #11 ($group) must be between 1 and 200 bytes long
["ff",null,"other"]
["ff","new",true]
-- numbers
[{"waiting":0,"reserved":0,"nextTurnAt":null,"closedUntil":null,"paused":false},{"waiting":3,"reserved":1,"nextTurnAt":1.5,"closedUntil":2,"paused":true}]
ValueError: DelayQueue\Testing::groupStats(): Argument #1 ($waiting) must be greater than or equal to 0
TypeError: DelayQueue\Testing::groupStats(): Argument #4 ($closedUntil) must be of type ?float, string given
int(3)
int(0)
# HELP delayqueue_jobs_blocked Ready jobs of groups that may not be served now.
# TYPE delayqueue_jobs_blocked gauge
delayqueue_jobs_blocked{queue="mails"} 3
