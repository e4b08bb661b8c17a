--TEST--
Constructor options are checked by name, type and range
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$wrong = [
    'prefix' => ['', 'a{b}', str_repeat('p', 65), [], null],
    'ttr' => [0, 'x', null, []],
    'maxAttempts' => [-1, 'x', 4294967296],
    'priority' => [-1, null],
    'backoff' => ['5s', null],
    'format' => ['xml', 1, []],
    'maxPayload' => [0, 536870913, '1M'],
    'connectTimeout' => [0, -1, NAN, 'x', 3601],
    'readTimeout' => [0, []],
    'persistent' => [[], null],
    'partitions' => [0, 257, 'many'],
    'durability' => ['tape'],
    'replicas' => [2],
    'capacity' => [0, -1, 'many', []],
];
foreach ($wrong as $option => $values) {
    caught_each($values, fn($value) => offline([$option => $value]));
}
caught(fn() => offline(['replicas' => 0, 'durability' => 'replica']));
foreach (['prefx', 7, "\xff", 'compress', 'spin', 'max_attempts', 'Prefix', 'partition'] as $unknown) {
    caught(fn() => offline([$unknown => 1]));
}
foreach ([
    ['prefix' => 'a.b'], ['ttr' => '30'], ['ttr' => new DateInterval('PT1M')], ['maxAttempts' => 0], ['priority' => '4294967295'],
    ['backoff' => DelayQueue\Backoff::fixed(1)], ['format' => 'raw'], ['maxPayload' => 1], ['connectTimeout' => 0.001],
    ['capacity' => null], ['readTimeout' => '2.5'], ['persistent' => 0],
] as $options) {
    echo get_debug_type(offline($options)), ' ';
}
?>
--EXPECT--
'', 'a{b}', 'ppppppppp… => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "prefix" must be 1 to 64 bytes of [A-Za-z0-9._:-]
array (\n) => TypeError: DelayQueue::__construct(): Option "prefix" must be of type string, array given
NULL => TypeError: DelayQueue::__construct(): Option "prefix" must be of type string, null given
0 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "ttr" must be between 0.1 seconds and 30 days
'x' => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "ttr" must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
NULL => TypeError: DelayQueue::__construct(): Option "ttr" must be of type DateInterval|string|int|float, null given
array (\n) => TypeError: DelayQueue::__construct(): Option "ttr" must be of type DateInterval|string|int|float, array given
-1, 4294967296 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "maxAttempts" must be between 0 and 4294967295
'x' => TypeError: DelayQueue::__construct(): Option "maxAttempts" must be of type int, string given
-1 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "priority" must be between 0 and 4294967295
NULL => TypeError: DelayQueue::__construct(): Option "priority" must be of type int, null given
'5s' => TypeError: DelayQueue::__construct(): Option "backoff" must be of type DelayQueue\Backoff, string given
NULL => TypeError: DelayQueue::__construct(): Option "backoff" must be of type DelayQueue\Backoff, null given
'xml', 1 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "format" must be "json" or "raw"
array (\n) => TypeError: DelayQueue::__construct(): Option "format" must be of type string, array given
0, 536870913 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "maxPayload" must be between 1 and 536870912
'1M' => TypeError: DelayQueue::__construct(): Option "maxPayload" must be of type int, string given
0, 3601 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "connectTimeout" must be between 0.001 and 3600 seconds
-1 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "connectTimeout" must be greater than or equal to 0
NAN => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "connectTimeout" must be finite
'x' => TypeError: DelayQueue::__construct(): Option "connectTimeout" must be of type int|float, string given
0 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "readTimeout" must be between 0.001 and 3600 seconds
array (\n) => TypeError: DelayQueue::__construct(): Option "readTimeout" must be of type int|float, array given
array (\n) => TypeError: DelayQueue::__construct(): Option "persistent" must be of type bool, array given
NULL => TypeError: DelayQueue::__construct(): Option "persistent" must be of type bool, null given
0, 257 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "partitions" must be between 1 and 256
'many' => TypeError: DelayQueue::__construct(): Option "partitions" must be of type int, string given
'tape' => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "durability" must be "memory", "replica" or "disk"
2 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "replicas" must not be given without durability "replica"
0, -1 => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "capacity" must be greater than or equal to 1
'many' => TypeError: DelayQueue::__construct(): Option "capacity" must be of type int, string given
array (\n) => TypeError: DelayQueue::__construct(): Option "capacity" must be of type int, array given
DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "replicas" must be between 1 and 255
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "prefx"; did you mean 'prefix'?
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "7"; there are 'prefix', 'ttr', 'maxAttempts', 'priority', 'backoff', 'format', 'maxPayload', 'connectTimeout', 'readTimeout', 'durability', 'replicas', 'partitions', 'capacity', 'persistent', 'keys' and 'signed'
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "�"; there are 'prefix', 'ttr', 'maxAttempts', 'priority', 'backoff', 'format', 'maxPayload', 'connectTimeout', 'readTimeout', 'durability', 'replicas', 'partitions', 'capacity', 'persistent', 'keys' and 'signed'
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "compress"; there are 'prefix', 'ttr', 'maxAttempts', 'priority', 'backoff', 'format', 'maxPayload', 'connectTimeout', 'readTimeout', 'durability', 'replicas', 'partitions', 'capacity', 'persistent', 'keys' and 'signed'
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "spin"; there are 'prefix', 'ttr', 'maxAttempts', 'priority', 'backoff', 'format', 'maxPayload', 'connectTimeout', 'readTimeout', 'durability', 'replicas', 'partitions', 'capacity', 'persistent', 'keys' and 'signed'
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "max_attempts"; did you mean 'maxAttempts'?
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "Prefix"; did you mean 'prefix'?
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "partition"; did you mean 'partitions'?
DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue 
