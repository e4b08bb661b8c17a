--TEST--
Testing::job() is a real Job that sends nothing: its calls are recorded, and it settles once
--INI--
delayqueue.testing=0
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{Job, JobCall, JobInterface, LeaseLostException, State, Testing};
$sockets = fn(): int => count(array_filter(array_map(fn($fd) => (string) @readlink("/proc/self/fd/$fd"), scandir('/proc/self/fd')), fn($to) => str_starts_with($to, 'socket:')));
$before = $sockets();
caught(fn() => Testing::job(1));
caught(fn() => Testing::jobInfo());
caught(fn() => Testing::stats());
ini_set('delayqueue.testing', '1');
// A Redis that is asked would fail, and be the only way to send anything.
ini_set('delayqueue.dsn', 'redis+unix:///nonexistent/redis.sock');

$job = Testing::job((object) ['order' => 4711], attempts: 3, headers: ['tenant' => 'acme'], lastError: 'no bank');
var_dump($job instanceof Job, $job instanceof JobInterface, $job->id, $job->queue, $job->payload, $job->body, $job->attempts);
var_dump($job->maxAttempts, $job->priority, $job->ttr, $job->token, $job->lastError, $job->headers, abs($job->reservedAt - microtime(true)) < 5);
var_dump($job->timeLeft() > 59, Testing::outcome($job), Testing::calls($job));
$show = function (?JobCall $call): void {
    if ($call === null) { echo "none\n"; return; }
    $given = array_filter(get_object_vars($call), fn($v) => $v !== null && $v !== true);
    unset($given['dueAt'], $given['leaseUntil'], $given['failed']);
    echo json_encode($given + ($call->failed ? ['failed' => true] : [])), "\n";
};
var_dump(abs($job->touch('2m') - microtime(true) - 120) < 5, $job->timeLeft() > 119);
$job->keepAlive('1h');
$job->update(['page' => 2], ['tenant' => 'b']);
$job->update('same headers');
var_dump(Testing::outcome($job));
$job->release('1m30s', priority: 5, countAttempt: false);
array_map($show, Testing::calls($job));
var_dump($job->isSettled(), $job->isLost(), $job->timeLeft(), abs(Testing::outcome($job)->dueAt - microtime(true) - 90) < 5);
caught_each(['ack', 'release', 'fail', 'bury', 'touch', 'keepAlive'], fn($method) => $job->$method());
caught(fn() => $job->update(1));
var_dump(count(Testing::calls($job)));

foreach (['ack' => [], 'release' => [new DateTime('-1 day')], 'fail' => [new RuntimeException('why')], 'bury' => ['for good']] as $method => $arguments) {
    $job = Testing::job('x', 'order-1');
    $job->$method(...$arguments);
    $show(Testing::outcome($job));
}
foreach (['ack' => [], 'release' => ['1h'], 'bury' => ['no']] as $method => $arguments) {
    $job = Testing::job('x');
    $job->$method(...$arguments, ...($method === 'release' ? ['error' => 'no bank'] : ['failed' => true]));
    $show(Testing::outcome($job));
}
$jobs = [Testing::job(1), Testing::job(2), Testing::job(3)];
$jobs[1]->bury();
var_dump(offline()->ackMany(...$jobs), Testing::outcome($jobs[0])->name, Testing::outcome($jobs[1])->name);

echo "-- errors --\n";
$job = Testing::job(1);
caught(fn() => $job->release(-1));
caught(fn() => $job->update(NAN));
caught(fn() => $job->touch(0));
var_dump(Testing::calls($job));
caught(fn() => Testing::job());
caught(fn() => Testing::job(NAN));
caught(fn() => Testing::job(1, ''));
caught(fn() => Testing::job(1, attempts: 0));
caught(fn() => Testing::job(1, headers: [' ' => '']));
caught(fn() => Testing::job(1, queue: 'a b'));
caught(fn() => Testing::job(1, priority: -1));
caught(fn() => Testing::job(1, ttr: 0));
caught(fn() => Testing::job(1, listener: 'none'));
var_dump($sockets() - $before);
$queue = queue();
$queue->push('real');
var_dump($sockets() - $before);
$real = $queue->reserve();
caught(fn() => Testing::outcome($real));
caught(fn() => Testing::calls($real));
$real->ack();

echo "-- a listener --\n";
$job = Testing::job(1, listener: function (JobCall $call): void { echo "heard $call->name\n"; });
$job->touch();
$job->ack();
$job = Testing::job(1, listener: fn() => throw new LeaseLostException('gone'));
caught(fn() => $job->ack());
var_dump($job->isLost(), $job->isSettled(), Testing::calls($job), offline()->ackMany(Testing::job(1, listener: fn() => throw new LeaseLostException('gone'))));
$job = Testing::job(1, listener: fn() => throw new LogicException('no'));
caught(fn() => $job->ack());
var_dump($job->isLost(), $job->isSettled());
$cycle = new stdClass;
$cycle->job = Testing::job(1, listener: function () use ($cycle): void {});
$gone = WeakReference::create($cycle);
unset($cycle);
gc_collect_cycles();
var_dump($gone->get());

echo "-- values --\n";
$info = Testing::jobInfo(['id' => 'x', 'payload' => ['a' => 1]]);
var_dump($info->id, $info->queue, $info->state, $info->attempts, abs($info->dueAt - microtime(true)) < 5);
$info = Testing::jobInfo(['state' => State::Buried, 'lastError' => 'why', 'ttr' => 9], $info);
var_dump($info->id, $info->state, $info->lastError, $info->ttr, $info->payload, Testing::jobInfo()->id);
caught(fn() => Testing::jobInfo(['x' => 1]));
caught(fn() => Testing::jobInfo(['state' => 'ready']));
echo json_encode([Testing::pushOnce(), Testing::pushOnce(2, known: 1)]), "\n";
caught(fn() => Testing::pushOnce(kept: -1));
$stats = Testing::stats(['ready' => 3, 'paused' => true, 'oldestReadyAge' => 1.5], 'orders');
var_dump($stats->ready, $stats->delayed, $stats->paused, $stats->oldestReadyAge, $stats->nextDueAt);
caught(fn() => Testing::stats(['x' => 1]));
caught(fn() => Testing::stats(['ready' => -1]));
?>
--EXPECTF--
Error: DelayQueue\Testing needs the ini setting delayqueue.testing=1; never set it in production
Error: DelayQueue\Testing needs the ini setting delayqueue.testing=1; never set it in production
Error: DelayQueue\Testing needs the ini setting delayqueue.testing=1; never set it in production
bool(true)
bool(true)
string(4) "test"
string(7) "default"
array(1) {
  ["order"]=>
  int(4711)
}
string(14) "{"order":4711}"
int(3)
int(10)
int(1024)
float(60)
int(1)
string(7) "no bank"
array(1) {
  ["tenant"]=>
  string(4) "acme"
}
bool(true)
bool(true)
NULL
array(0) {
}
bool(true)
bool(true)
NULL
{"name":"touch","ttr":120}
{"name":"keepAlive","ttr":3600}
{"name":"update","payload":{"page":2},"body":"{\"page\":2}","headers":{"tenant":"b"}}
{"name":"update","payload":"same headers","body":"\"same headers\""}
{"name":"release","delay":90,"priority":5,"countAttempt":false}
bool(true)
bool(false)
float(0)
bool(true)
'ack', 'release', 'fail', 'bury', 'touch', 'keepAlive' => DelayQueue\LeaseLostException: the lease of job 'test' in queue 'default' is lost: it is settled already
DelayQueue\LeaseLostException: the lease of job 'test' in queue 'default' is lost: it is settled already
int(5)
{"name":"ack"}
{"name":"release","delay":0}
{"name":"fail","reason":"RuntimeException: why\nin %sa_job_can_be_made_without_redis.php:35"}
{"name":"bury","reason":"for good"}
{"name":"ack","failed":true}
{"name":"release","delay":3600,"reason":"no bank","failed":true}
{"name":"bury","reason":"no","failed":true}
int(2)
string(3) "ack"
string(4) "bury"
-- errors --
ValueError: DelayQueue\Job::release(): Argument #1 ($delay) must be greater than or equal to 0
DelayQueue\PayloadException: Inf and NaN cannot be JSON encoded
ValueError: DelayQueue\Job::touch(): Argument #1 ($ttr) must be between 0.1 seconds and 30 days
array(0) {
}
ArgumentCountError: DelayQueue\Testing::job() expects at least 1 argument, 0 given
DelayQueue\PayloadException: Inf and NaN cannot be JSON encoded
ValueError: DelayQueue\Testing::job(): Argument #2 ($id) must be between 1 and 200 bytes long
ValueError: DelayQueue\Testing::job(): Argument #3 ($attempts) must be between 1 and 4294967295
ValueError: DelayQueue\Testing::job(): Argument #4 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], " " given
ValueError: DelayQueue\Testing::job(): Argument #5 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue\Testing::job(): Argument #7 ($priority) must be between 0 and 4294967295
ValueError: DelayQueue\Testing::job(): Argument #8 ($ttr) must be between 0.1 seconds and 30 days
TypeError: DelayQueue\Testing::job(): Argument #10 ($listener) must be a valid callback, function "none" not found or invalid function name
int(0)
int(1)
ValueError: DelayQueue\Testing::outcome(): Argument #1 ($job) must be a job of DelayQueue\Testing::job()
ValueError: DelayQueue\Testing::calls(): Argument #1 ($job) must be a job of DelayQueue\Testing::job()
-- a listener --
heard touch
heard ack
DelayQueue\LeaseLostException: gone
bool(true)
bool(false)
array(0) {
}
int(0)
LogicException: no
bool(false)
bool(false)
NULL
-- values --
string(1) "x"
string(7) "default"
enum(DelayQueue\State::Ready)
int(0)
bool(true)
string(1) "x"
enum(DelayQueue\State::Buried)
string(3) "why"
float(9)
array(1) {
  ["a"]=>
  int(1)
}
string(4) "test"
ValueError: DelayQueue\Testing::jobInfo(): Argument #1 ($properties) has the unknown key "x"
TypeError: Cannot assign string to property DelayQueue\JobInfo::$state of type DelayQueue\State
[{"added":0,"kept":0,"known":0},{"added":2,"kept":0,"known":1}]
ValueError: DelayQueue\Testing::pushOnce(): Argument #2 ($kept) must be greater than or equal to 0
int(3)
int(0)
bool(true)
float(1.5)
NULL
ValueError: DelayQueue\Testing::stats(): Argument #1 ($properties) has the unknown key "x"
TypeError: DelayQueue\Testing::stats(): Argument #1 ($properties) must have "ready" of type non-negative int
