--TEST--
update() changes the payload, headers by their names and the time; with $unchanged only the job that was seen
--INI--
delayqueue.testing=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\State;
$queue = queue();
$queue->push(['n' => 1], '1h', 'a', headers: ['tenant' => 't', 'trace' => 'x']);
$show = function () use ($queue): void {
    $info = $queue->peek('a');
    echo json_encode([$info->payload, $info->headers, $info->state, (int) round($info->dueAt - $queue->now(), -2)]), "\n";
};
var_dump($queue->update('a', ['n' => 2]));
$show();
$queue->update('a', headers: ['trace' => null, 'steps' => '1', 'none' => null]);
$show();
$queue->update('a', delay: '2h', headers: ['steps' => '2']);
$show();
$queue->update('a');
$show();

echo "-- unchanged\n";
$seen = $queue->peek('a');
var_dump($queue->update('a', 3, unchanged: $seen), $queue->update('a', 4, unchanged: $seen));
$seen = $queue->list(State::Delayed)[0];
$queue->reschedule('a', '3h');
var_dump($queue->update('a', 5, delay: 0, unchanged: $seen), $queue->update('a', delay: 0, unchanged: $queue->peek('a')));
$show();

echo "-- in hand\n";
$job = $queue->reserve();
$job->update(headers: ['progress' => '50']);
$job->update(['last' => true]);
$job->update(headers: ['steps' => null]);
var_dump($queue->update('a', 6), $queue->update('a', 6, unchanged: $queue->peek('a')), $queue->reschedule('a', '10m'), $queue->reschedule('a', '10m', held: true));
$job->release('1h');
$show();
$job = $queue->reserveJob('a');
$job->bury();
$queue->update('a', delay: '5m', unchanged: $queue->peek('a'));
$show();

echo "-- mistakes\n";
$other = $queue->sibling($queue->name() . '-other');
$other->push(1, id: 'a');
$other->push(1, id: 'b');
caught(fn() => $queue->update('a', 1, unchanged: $other->peek('b')));
caught(fn() => $queue->update('b', 1, unchanged: $queue->peek('a')));
caught(fn() => $queue->update('a', 1, unchanged: DelayQueue\Testing::jobInfo(['id' => 'a', 'queue' => $queue->name()])));
caught(fn() => $queue->update('a', 1, delay: -1));
caught(fn() => $queue->update('a', 1, headers: ['a b' => null]));
caught(fn() => $queue->update('a', 1, headers: ['a' => 1]));
caught(fn() => $queue->update('a', headers: array_fill_keys(range(1, 65), '')));
?>
--EXPECT--
bool(true)
[{"n":2},{"tenant":"t","trace":"x"},"delayed",3600]
[{"n":2},{"tenant":"t","steps":"1"},"delayed",3600]
[{"n":2},{"tenant":"t","steps":"2"},"delayed",7200]
[{"n":2},{"tenant":"t","steps":"2"},"delayed",7200]
-- unchanged
bool(true)
bool(false)
bool(false)
bool(true)
[3,{"tenant":"t","steps":"2"},"ready",0]
-- in hand
bool(false)
bool(false)
bool(false)
bool(true)
[{"last":true},{"tenant":"t","progress":"50"},"delayed",600]
[{"last":true},{"tenant":"t","progress":"50"},"delayed",300]
-- mistakes
DelayQueue\InvalidArgument: DelayQueue::update(): Argument #5 ($unchanged) must be the job of argument #1 ($id)
DelayQueue\InvalidArgument: DelayQueue::update(): Argument #5 ($unchanged) must be the job of argument #1 ($id)
DelayQueue\InvalidArgument: DelayQueue::update(): Argument #5 ($unchanged) must be a job that this queue has shown
DelayQueue\InvalidArgument: DelayQueue::update(): Argument #4 ($delay) must be greater than or equal to 0
DelayQueue\InvalidArgument: DelayQueue::update(): Argument #3 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "a b" given
TypeError: DelayQueue::update(): Argument #3 ($headers) must be an array of strings and nulls, int given for "a"
DelayQueue\InvalidArgument: DelayQueue::update(): Argument #3 ($headers) must have at most 64 headers, 67 given
