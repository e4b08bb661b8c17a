--TEST--
Testing moves this process' view of the time, if the ini setting allows it
--INI--
delayqueue.testing=0
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Testing;
caught(fn() => Testing::travel(1));
caught(fn() => Testing::travelTo(new DateTime));
caught(fn() => Testing::travelBack());
var_dump(Testing::offset());
ini_set('delayqueue.testing', '1');
caught(fn() => Testing::travel(-1));
caught(fn() => Testing::travelTo('now'));
$queue = queue(['ttr' => 60]);
$queue->push('tomorrow', '1d', id: 'tomorrow');
var_dump($queue->reserve());
Testing::travel('1d');
var_dump(Testing::offset());
$job = $queue->reserve();
var_dump($job->payload, abs($job->reservedAt - microtime(true) - 86400) < 2, $job->timeLeft() > 59);
Testing::travel(61);
var_dump($job->timeLeft());
$again = $queue->reserve();
var_dump($again->payload, $again->attempts, $again->lastError, $again->id === $job->id, $again->token > $job->token);
caught(fn() => $job->ack());
var_dump($job->isLost(), $job->isSettled(), $job->timeLeft());
$again->ack();
Testing::travelTo(new DateTimeImmutable('2040-01-01 UTC'));
$queue->push('new year', new DateTime('2040-01-01 00:00:05 UTC'));
$queue->push('next', new DateInterval('P31D'));
var_dump($queue->reserve(), gmdate('Y-m-d', (int) $queue->list(DelayQueue\State::Delayed)[1]->dueAt));
Testing::travel(6);
var_dump($queue->reserve()->payload);
Testing::travelTo(new DateTime('2001-01-01'));
var_dump(date('Y', (int) $queue->peek($queue->push(1))->dueAt));
Testing::travelBack();
var_dump(Testing::offset());
var_dump(abs($queue->peek($queue->push(1))->dueAt - microtime(true)) < 2);
$queue->purge();
?>
--EXPECT--
Error: DelayQueue\Testing needs the ini setting delayqueue.testing=1; never set it in production
Error: DelayQueue\Testing needs the ini setting delayqueue.testing=1; never set it in production
Error: DelayQueue\Testing needs the ini setting delayqueue.testing=1; never set it in production
float(0)
DelayQueue\InvalidArgument: DelayQueue\Testing::travel(): Argument #1 ($by) must be greater than or equal to 0
TypeError: DelayQueue\Testing::travelTo(): Argument #1 ($moment) must be of type DateTimeInterface, string given
NULL
float(86400)
string(8) "tomorrow"
bool(true)
bool(true)
float(0)
string(8) "tomorrow"
int(2)
string(13) "lease expired"
bool(true)
bool(true)
DelayQueue\LeaseLostException: the lease of job 'tomorrow' in queue 'tests_can_travel_in_time' is lost: its time ran out and it was taken back, or it was cancelled
bool(true)
bool(false)
float(0)
NULL
string(10) "2040-02-01"
string(8) "new year"
string(4) "2001"
float(0)
bool(true)
