--TEST--
Where Redis does not let a group be closed, its job goes back all the same, and the loop says why
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{Event, Job, RateLimited};
$queue = queue();
$queue->on(Event::Released, fn(Event $event, Job $job) => print("released $job->id\n"));
$queue->push(1, id: 'j');
// The key that keeps the group closed is of a wrong type, as in a database that another program writes to.
redis('SET', "dq:{{$queue->name()}}:spent", 'x');
caught(fn() => $queue->consume(fn() => throw new RateLimited('1m', 'bank', 'busy'), maxJobs: 1));
redis('DEL', "dq:{{$queue->name()}}:spent");
$job = $queue->peek('j');
echo $job->state->value, ' ', $job->attempts, ' ', json_encode($job->lastError), "\n";
$queue->drain(fn(Job $job) => print("attempt $job->attempts\n"));
?>
--EXPECT--
released j
DelayQueue\ServerException: limiting the rate of group 'bank' of queue 'a_limit_that_is_refused_loses_no_job': WRONGTYPE Operation against a key holding the wrong kind of value (key 'dq:{a_limit_that_is_refused_loses_no_job}:spent' holds a string, not a zset)
ready 0 "busy"
attempt 1
