--TEST--
A Unix time where a delay is wanted is refused with the words to write instead
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Release;
$queue = queue();
$time = 1893456000;
caught(fn() => $queue->push(1, $time + 900));
caught(fn() => $queue->push(1, delay: $time + 0.5));
caught(fn() => $queue->push(1, delay: " $time"));
caught(fn() => $queue->push(1, 1_000_000_000));
caught(fn() => $queue->pushMany([['payload' => 1], ['payload' => 2, 'delay' => $time]]));
caught(fn() => $queue->reschedule('j', $time));
caught(fn() => new Release($time));
caught(fn() => $queue->pause($time));
var_dump($queue->isPaused());
var_dump(count($queue));
$queue->push(1, id: 'j');
$job = $queue->reserve();
caught(fn() => $job->release($time));
var_dump($job->isSettled());
// The words lead to a program that works, and long delays have other words.
$job->release(new DateTimeImmutable("@$time"));
var_dump($queue->peek('j')->dueAt === (float) $time);
var_dump($queue->reschedule('j', 999_999_999), $queue->reschedule('j', '12000d'), $queue->reschedule('j', new DateInterval('P14610D')));
// Moments stay what they are to the classic producer, and durations that are no delays stay numbers.
var_dump($queue->producer('k', $time, []));
$queue->purge();
?>
--EXPECT--
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be a delay, and 1893456900 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1893456900')
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be a delay, and 1893456000.5 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1893456000.5')
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be a delay, and 1893456000 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1893456000')
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #2 ($delay) must be a delay, and 1000000000 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1000000000')
DelayQueue\InvalidArgument: DelayQueue::pushMany(): Argument #1 ($jobs) item 1: "delay" must be a delay, and 1893456000 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1893456000')
DelayQueue\InvalidArgument: DelayQueue::reschedule(): Argument #2 ($delay) must be a delay, and 1893456000 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1893456000')
DelayQueue\InvalidArgument: DelayQueue\Release::__construct(): Argument #1 ($delay) must be a delay, and 1893456000 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1893456000')
DelayQueue\InvalidArgument: DelayQueue::pause(): Argument #1 ($for) must be a delay, and 1893456000 looks like a Unix time: for a moment give 1893456000 - time()
bool(false)
int(0)
DelayQueue\InvalidArgument: DelayQueue\Job::release(): Argument #1 ($delay) must be a delay, and 1893456000 looks like a Unix time: for a moment give a DateTimeInterface, such as new DateTimeImmutable('@1893456000')
bool(false)
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
