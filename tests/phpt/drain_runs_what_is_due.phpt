--TEST--
drain() runs what is due now, up to a limit, and says how many there were
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->pushMany(array_fill(0, 5, ['payload' => 'due']));
$queue->push('later', delay: '1h');
$payloads = [];
$handler = function (DelayQueue\Job $job, DelayQueue $queue) use (&$payloads) { $payloads[] = $job->payload; };
var_dump($queue->drain($handler, 2), $queue->drain($handler), $queue->drain($handler));
echo implode(' ', $payloads), ', ', count($queue), " left\n";
$queue->push('fails', id: 'fails');
var_dump($queue->drain(fn () => throw new LogicException('wrong')));
echo strtok($queue->peek('fails')->lastError, "\n"), "\n";
$queue->push('stops');
$queue->push('is left');
var_dump($queue->drain(function ($job, $queue) { $queue->stop(); }));
caught(fn () => offline()->drain($handler));
?>
--EXPECT--
int(2)
int(3)
int(0)
due due due due due, 1 left
int(1)
LogicException: wrong
int(1)
DelayQueue\ConnectionException: reserving from queue 'offline': cannot connect to redis+unix:///nonexistent/redis.sock?db=0: no such socket: is Redis running, with this 'unixsocket'?
