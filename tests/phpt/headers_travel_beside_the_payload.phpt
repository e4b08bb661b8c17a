--TEST--
Headers: stored and given back with every look at a job, and refused before anything is sent
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$show = fn (array $headers) => print(json_encode($headers) . "\n");

echo "-- kept\n";
$headers = ['trace' => '00-4bf9-01', 'Content-Type' => 'text/plain; charset=utf-8', '123' => 'a number', 'x_y.z' => "ü\0\"\n", 'empty' => ''];
$queue->push(1, id: 'one', headers: $headers);
var_dump($queue->peek('one')->headers === $headers);
$job = $queue->reserve();
var_dump($job->headers === $headers, $job->headers['123']);
$job->release();
var_dump($queue->reserve()->headers === $headers);
$queue->pushMany([['payload' => 1, 'id' => 'a', 'headers' => ['n' => '1']], ['payload' => 2, 'id' => 'b']]);
$show($queue->peek('a')->headers);
$show($queue->peek('b')->headers);
$most = array_combine(array_map(fn ($n) => str_pad("n$n", 100, 'x'), range(1, 64)), array_fill(0, 64, str_repeat("\1", 28)));
$queue->push(1, id: 'most', headers: $most);
var_dump($queue->peek('most')->headers === $most);

$queue->push(3, id: 'b', onDuplicate: DelayQueue\OnDuplicate::Replace, headers: ['r' => 's']);
$show($queue->peek('b')->headers);

echo "-- refused\n";
$offline = offline();
foreach ([
    1, ['' => 'a'], ['a b' => 'c'], ["a\0" => 'c'], ['ä' => 'c'], ["\xff" => 'c'], [str_repeat('n', 101) => 'c'], ['n' => "\xff"],
    ['n' => 1], ['n' => null], ['n' => ['x']], ['n' => new ArrayObject], array_fill(0, 65, 'v'), ['n' => str_repeat('v', 8192)],
] as $bad) {
    caught(fn () => $offline->push(1, headers: $bad));
}
caught(fn () => $offline->push(1, headers: null));
caught(fn () => $offline->pushMany([['payload' => 1], ['payload' => 1, 'headers' => ['a:b' => '']]]));
caught(fn () => $offline->pushMany([['payload' => 1, 'headers' => ['n' => 7]]]));
caught(fn () => $offline->pushMany([['payload' => 1, 'headers' => null]]));
caught(fn () => $offline->update('id', 1, ['' => '']));
caught(fn () => $job->update(1, ['a b' => '']));
caught(fn () => $job->update(1, ['n' => 1.5]));
$queue->purge();
?>
--EXPECT--
-- kept
bool(true)
bool(true)
string(8) "a number"
bool(true)
{"n":"1"}
[]
bool(true)
{"r":"s"}
-- refused
TypeError: DelayQueue::push(): Argument #10 ($headers) must be of type array, int given
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #10 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "" given
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #10 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "a b" given
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #10 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "a\0" given
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #10 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "ä" given
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #10 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "�" given
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #10 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn" given
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #10 ($headers) must have values of valid UTF-8, that of "n" is not
TypeError: DelayQueue::push(): Argument #10 ($headers) must be an array of strings, int given for "n"
TypeError: DelayQueue::push(): Argument #10 ($headers) must be an array of strings, null given for "n"
TypeError: DelayQueue::push(): Argument #10 ($headers) must be an array of strings, array given for "n"
TypeError: DelayQueue::push(): Argument #10 ($headers) must be an array of strings, ArrayObject given for "n"
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #10 ($headers) must have at most 64 headers, 65 given
DelayQueue\InvalidArgument: DelayQueue::push(): Argument #10 ($headers) must have at most 8192 bytes of names and values, 8193 given
TypeError: DelayQueue::push(): Argument #10 ($headers) must be of type array, null given
DelayQueue\InvalidArgument: DelayQueue::pushMany(): Argument #1 ($jobs) item 1: "headers" must have names of 1 to 100 bytes of [A-Za-z0-9._-], "a:b" given
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 0: "headers" must be an array of strings, int given for "n"
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 0: "headers" must be of type array, null given
DelayQueue\InvalidArgument: DelayQueue::update(): Argument #3 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "" given
DelayQueue\InvalidArgument: DelayQueue\Job::update(): Argument #2 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "a b" given
TypeError: DelayQueue\Job::update(): Argument #2 ($headers) must be an array of strings and nulls, float given for "n"
