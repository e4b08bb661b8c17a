--TEST--
deadlineSoon() tells that the lease ends within a margin
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Testing;
$queue = queue(['ttr' => 60]);
$queue->push(1, id: 'j');
$job = $queue->reserve();
var_dump($job->deadlineSoon(), $job->deadlineSoon(61), $job->deadlineSoon('59s'));
Testing::travel('59200ms');
var_dump($job->deadlineSoon(), $job->deadlineSoon(0), $job->deadlineSoon('500ms'));
$job->touch();
var_dump($job->deadlineSoon());
Testing::travel(61);
var_dump($job->deadlineSoon(), $job->timeLeft());
$queue->cancel('j');
try { $job->touch(); } catch (DelayQueue\LeaseLostException) {}
var_dump($job->isLost(), $job->deadlineSoon());
Testing::travelBack();
$queue->push(1);
$job = $queue->reserve();
$job->ack();
var_dump($job->deadlineSoon('1h'));
caught(fn() => $job->deadlineSoon(-1));
?>
--EXPECT--
bool(false)
bool(true)
bool(false)
bool(true)
bool(false)
bool(false)
bool(false)
bool(true)
float(0)
bool(true)
bool(false)
bool(false)
DelayQueue\InvalidArgument: DelayQueue\Job::deadlineSoon(): Argument #1 ($margin) must be greater than or equal to 0
