--TEST--
Constructor options are checked by name, type and range
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach ([
    ['prefx' => 'a'], [7 => 'a'], ["\xff" => 1],
    ['prefix' => ''], ['prefix' => 'a{b}'], ['prefix' => str_repeat('p', 65)], ['prefix' => []], ['prefix' => null],
    ['ttr' => 0], ['ttr' => 'x'], ['ttr' => null], ['ttr' => []],
    ['maxAttempts' => -1], ['maxAttempts' => 'x'], ['maxAttempts' => 4294967296],
    ['priority' => -1], ['priority' => null],
    ['backoff' => '5s'], ['backoff' => null],
    ['format' => 'xml'], ['format' => 1], ['format' => []],
    ['maxPayload' => 0], ['maxPayload' => 536870913], ['maxPayload' => '1M'],
    ['connectTimeout' => 0], ['connectTimeout' => -1], ['connectTimeout' => NAN], ['connectTimeout' => 'x'], ['connectTimeout' => 3601],
    ['readTimeout' => 0], ['readTimeout' => []],
    ['persistent' => []], ['persistent' => null],
    ['compress' => true], ['spin' => true],
] as $options) {
    caught(fn() => offline($options));
}
foreach ([
    ['prefix' => 'a.b'], ['ttr' => '30'], ['ttr' => new DateInterval('PT1M')], ['maxAttempts' => 0], ['priority' => '4294967295'],
    ['backoff' => DelayQueue\Backoff::fixed(1)], ['format' => 'raw'], ['maxPayload' => 1], ['connectTimeout' => 0.001],
    ['readTimeout' => '2.5'], ['persistent' => 0],
] as $options) {
    echo get_debug_type(offline($options)), ' ';
}
?>
--EXPECT--
ValueError: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "prefx"; did you mean 'prefix'?
ValueError: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "7"; there are 'prefix', 'ttr', 'maxAttempts', 'priority', 'backoff', 'format', 'maxPayload', 'connectTimeout', 'readTimeout', 'durability', 'replicas', 'partitions', 'capacity', 'persistent', 'keys' and 'signed'
ValueError: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "�"; there are 'prefix', 'ttr', 'maxAttempts', 'priority', 'backoff', 'format', 'maxPayload', 'connectTimeout', 'readTimeout', 'durability', 'replicas', 'partitions', 'capacity', 'persistent', 'keys' and 'signed'
ValueError: DelayQueue::__construct(): Option "prefix" must be 1 to 64 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): Option "prefix" must be 1 to 64 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): Option "prefix" must be 1 to 64 bytes of [A-Za-z0-9._:-]
TypeError: DelayQueue::__construct(): Option "prefix" must be of type string, array given
TypeError: DelayQueue::__construct(): Option "prefix" must be of type string, null given
ValueError: DelayQueue::__construct(): Option "ttr" must be between 0.1 seconds and 30 days
ValueError: DelayQueue::__construct(): Option "ttr" must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
TypeError: DelayQueue::__construct(): Option "ttr" must be of type DateInterval|string|int|float, null given
TypeError: DelayQueue::__construct(): Option "ttr" must be of type DateInterval|string|int|float, array given
ValueError: DelayQueue::__construct(): Option "maxAttempts" must be between 0 and 4294967295
TypeError: DelayQueue::__construct(): Option "maxAttempts" must be of type int, string given
ValueError: DelayQueue::__construct(): Option "maxAttempts" must be between 0 and 4294967295
ValueError: DelayQueue::__construct(): Option "priority" must be between 0 and 4294967295
TypeError: DelayQueue::__construct(): Option "priority" must be of type int, null given
TypeError: DelayQueue::__construct(): Option "backoff" must be of type DelayQueue\Backoff, string given
TypeError: DelayQueue::__construct(): Option "backoff" must be of type DelayQueue\Backoff, null given
ValueError: DelayQueue::__construct(): Option "format" must be "json" or "raw"
ValueError: DelayQueue::__construct(): Option "format" must be "json" or "raw"
TypeError: DelayQueue::__construct(): Option "format" must be of type string, array given
ValueError: DelayQueue::__construct(): Option "maxPayload" must be between 1 and 536870912
ValueError: DelayQueue::__construct(): Option "maxPayload" must be between 1 and 536870912
TypeError: DelayQueue::__construct(): Option "maxPayload" must be of type int, string given
ValueError: DelayQueue::__construct(): Option "connectTimeout" must be between 0.001 and 3600 seconds
ValueError: DelayQueue::__construct(): Option "connectTimeout" must be greater than or equal to 0
ValueError: DelayQueue::__construct(): Option "connectTimeout" must be finite
TypeError: DelayQueue::__construct(): Option "connectTimeout" must be of type int|float, string given
ValueError: DelayQueue::__construct(): Option "connectTimeout" must be between 0.001 and 3600 seconds
ValueError: DelayQueue::__construct(): Option "readTimeout" must be between 0.001 and 3600 seconds
TypeError: DelayQueue::__construct(): Option "readTimeout" must be of type int|float, array given
TypeError: DelayQueue::__construct(): Option "persistent" must be of type bool, array given
TypeError: DelayQueue::__construct(): Option "persistent" must be of type bool, null given
ValueError: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "compress"; there are 'prefix', 'ttr', 'maxAttempts', 'priority', 'backoff', 'format', 'maxPayload', 'connectTimeout', 'readTimeout', 'durability', 'replicas', 'partitions', 'capacity', 'persistent', 'keys' and 'signed'
ValueError: DelayQueue::__construct(): Argument #3 ($options) has the unknown option "spin"; there are 'prefix', 'ttr', 'maxAttempts', 'priority', 'backoff', 'format', 'maxPayload', 'connectTimeout', 'readTimeout', 'durability', 'replicas', 'partitions', 'capacity', 'persistent', 'keys' and 'signed'
DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue DelayQueue 
