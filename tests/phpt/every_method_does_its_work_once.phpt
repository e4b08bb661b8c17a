--TEST--
Every method of DelayQueue and Job, once
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{State, OnDuplicate, Backoff};
$queue = queue(['maxAttempts' => 2, 'backoff' => Backoff::fixed(0)]);
echo "-- push\n";
var_dump($queue->push(['n' => 1], id: 'first'), strlen($queue->push('second', '1h')));
var_dump($queue->push(['n' => 3], priority: 1, ttr: 30, maxAttempts: 5, backoff: Backoff::linear(1), timeout: 9, id: 'urgent'));
caught(fn() => $queue->push(2, id: 'first'));
var_dump($queue->push('kept', id: 'first', onDuplicate: OnDuplicate::Keep), $queue->peek('first')->payload);
var_dump($queue->push('new', id: 'first', onDuplicate: OnDuplicate::Replace), $queue->peek('first')->payload);
var_dump($queue->pushMany([['payload' => 1, 'id' => 'm1'], ['payload' => 2, 'id' => 'm2', 'delay' => '1d']]));
echo "-- look\n";
var_dump(count($queue), $queue->count(State::Ready), $queue->count(State::Delayed), $queue->count(State::Reserved));
var_dump($queue->peek('nobody'), $queue->peekReady()->id, $queue->peekDelayed()->payload, $queue->peekBuried());
var_dump(array_map(fn($info) => $info->id, $queue->list(State::Ready)), count($queue->list(State::Delayed, 1, 5)));
var_dump($queue->peek('m2')->state);
echo "-- move\n";
var_dump($queue->reschedule('m2', 0), $queue->reschedule('nobody', 0), $queue->update('m1', 'updated'), $queue->update('nobody', 1));
var_dump($queue->cancel('m2', 'nobody'));
echo "-- reserve\n";
$job = $queue->reserve();
var_dump($job->id, $job->queue, $job->payload, $job->body, $job->attempts, $job->maxAttempts, $job->priority, $job->ttr, $job->lastError);
var_dump($job->createdAt <= $job->reservedAt, $job->token > 0, $job->timeLeft() > 29 && $job->timeLeft() <= 30);
var_dump($job->isSettled(), $job->isLost());
var_dump(abs($job->touch('1m') - microtime(true) - 60) < 2, $job->timeLeft() > 59);
$job->ack();
var_dump($job->isSettled(), $job->timeLeft());
caught(fn() => $job->ack());
caught(fn() => $job->touch());
echo "-- fail, bury, kick\n";
$job = $queue->reserveJob('first');
$job->fail(new RuntimeException('no such file'));
$job = $queue->reserveJob('first');
var_dump($job->id, $job->attempts, strtok($job->lastError, "\n"));
$job->fail('again');
$info = $queue->peekBuried();
var_dump($info->id, $info->lastError, $info->state, $queue->kick(10), $queue->peek('first')->attempts);
$jobs = $queue->reserveMany(5);
var_dump(array_map(fn($job) => $job->id, $jobs));
$jobs[0]->bury();
$jobs[1]->release('1h', 7);
var_dump($queue->kickJob('first'), $queue->kickJob('m1'), $queue->peek('m1')->priority, $queue->reserveJob('m1')->id);
echo "-- many\n";
var_dump($queue->ackMany($jobs[0], $queue->reserve(), $queue->reserveJob($queue->peekDelayed()->id)), count($queue));
echo "-- pause\n";
$queue->push(1, id: 'p');
$queue->pause();
var_dump($queue->isPaused(), $queue->reserve());
$queue->resume();
var_dump($queue->isPaused(), $queue->reserve()?->id);
echo "-- the rest\n";
var_dump($queue->watch('other') === $queue, $queue->reserve(), $queue->watch()->purge(State::Reserved), $queue->purge(), count($queue));
var_dump($queue->peekReady(), in_array('every_method_does_its_work_once', $queue->queues()));
$queue->push(1, id: 'kept');
var_dump($queue->forget(), $queue->cancel('kept'), $queue->forget(), in_array('every_method_does_its_work_once', $queue->queues()));
foreach ($queue->doctor() as ['level' => $level, 'check' => $check, 'message' => $message]) {
    $well = ($well ?? true) && in_array($level, ['ok', 'warn', 'error']) && $check !== '' && $message !== '';
}
var_dump($well);
$queue->stop();
$queue->close();
var_dump($queue->reserve(0.01));
?>
--EXPECT--
-- push
string(5) "first"
int(36)
string(6) "urgent"
DelayQueue\DuplicateJobException: job 'first' is already in queue 'every_method_does_its_work_once'
string(5) "first"
array(1) {
  ["n"]=>
  int(1)
}
string(5) "first"
string(3) "new"
array(2) {
  [0]=>
  string(2) "m1"
  [1]=>
  string(2) "m2"
}
-- look
int(5)
int(3)
int(2)
int(0)
NULL
string(6) "urgent"
string(6) "second"
NULL
array(3) {
  [0]=>
  string(6) "urgent"
  [1]=>
  string(5) "first"
  [2]=>
  string(2) "m1"
}
int(1)
enum(DelayQueue\State::Delayed)
-- move
bool(true)
bool(false)
bool(true)
bool(false)
int(1)
-- reserve
string(6) "urgent"
string(31) "every_method_does_its_work_once"
array(1) {
  ["n"]=>
  int(3)
}
string(7) "{"n":3}"
int(1)
int(5)
int(1)
float(30)
NULL
bool(true)
bool(true)
bool(true)
bool(false)
bool(false)
bool(true)
bool(true)
bool(true)
float(0)
DelayQueue\LeaseLostException: the lease of job 'urgent' in queue 'every_method_does_its_work_once' is lost: it is settled already
DelayQueue\LeaseLostException: the lease of job 'urgent' in queue 'every_method_does_its_work_once' is lost: it is settled already
-- fail, bury, kick
string(5) "first"
int(2)
string(30) "RuntimeException: no such file"
string(5) "first"
string(5) "again"
enum(DelayQueue\State::Buried)
int(1)
int(0)
array(2) {
  [0]=>
  string(2) "m1"
  [1]=>
  string(5) "first"
}
bool(true)
bool(true)
int(1024)
string(2) "m1"
-- many
int(2)
int(1)
-- pause
bool(true)
NULL
bool(false)
string(1) "p"
-- the rest
bool(true)
NULL
int(2)
int(0)
int(0)
NULL
bool(true)
bool(false)
int(1)
bool(true)
bool(false)
bool(true)
NULL
