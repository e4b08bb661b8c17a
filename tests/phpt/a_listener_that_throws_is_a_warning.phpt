--TEST--
A listener that throws is reported, and stops neither the other listeners nor the loop
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Event;
$queue = queue();
$queue->on(Event::Succeeded, fn () => throw new LogicException('first'))->on(Event::Succeeded, fn () => print("second\n"));
$queue->pushMany([['payload' => 1], ['payload' => 2]]);
echo $queue->consume(fn ($job) => print("job $job->payload\n"), stopWhenEmpty: true)->name, "\n";

set_error_handler(function (int $level, string $message): never { throw new ErrorException($message, 0, $level); });
$queue->push(3);
echo $queue->consume(fn ($job) => print("job $job->payload\n"), stopWhenEmpty: true)->name, "\n";
echo $queue->stats()->acked, " done\n";
?>
--EXPECTF--
job 1

Warning: DelayQueue::consume(): A listener of Event::Succeeded threw LogicException: first in %s on line %d
second
job 2

Warning: DelayQueue::consume(): A listener of Event::Succeeded threw LogicException: first in %s on line %d
second
Empty
job 3
second
Empty
3 done
