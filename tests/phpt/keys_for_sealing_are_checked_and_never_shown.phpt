--TEST--
Keys for sealing are checked, and show in no message, dump or trace
--INI--
zend.exception_ignore_args=0
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$key = 'hunter2-hunter2-hunter2-hunter2-';
foreach ([
    ['keys' => null], ['keys' => $key], ['keys' => []], ['keys' => [1 => 1]], ['keys' => ['k1' => null]], ['keys' => ['k1' => [$key]]],
    ['keys' => ['k1' => $key], 'signed' => []], ['signed' => true],
] as $options) {
    caught(fn() => offline($options));
}
$wrong = [substr($key, 1), "$key.", '', 'base64:', 'base64:' . base64_encode("$key."), base64_encode($key), 'base64:****'];
caught_each($wrong, fn($wrong) => offline(['keys' => ['k1' => $wrong]]));
caught_each(["$key!", '', 'a b', str_repeat('k', 65), "\xff"], fn($id) => offline(['keys' => [$id => $key]]));
foreach ([
    ['keys' => [$key]], ['keys' => ['A-z_0.9' => $key, 'b' => 'base64:' . base64_encode(random_bytes(32))], 'signed' => true], ['signed' => false],
] as $options) {
    echo get_debug_type(offline($options)), ' ';
}
echo "\n";

function shown(mixed $value): string
{
    ob_start();
    var_dump($value);
    print_r($value);
    var_export((array) $value);
    return ob_get_clean();
}
$queue = queue(['keys' => ['k1' => $key]]);
$queue->push('x', id: 'a');
$job = $queue->reserve();
$texts = [shown($queue), shown($job), shown($queue->peek('a'))];
foreach ([fn() => new DelayQueue('bad name', null, ['keys' => ['k1' => $key]]), fn() => new DelayQueue('q', null, ['keys' => ['k1' => $key], 'ttr' => 'x'])] as $call) {
    try {
        $call();
    } catch (ValueError $error) {
        $texts[] = (string) $error;
        $texts[] = print_r($error->getTrace()[0]['args'], true);
    }
}
ob_start();
phpinfo(INFO_MODULES);
$texts[] = ob_get_clean();
foreach ($texts as $text) {
    echo str_contains($text, 'hunter2') || str_contains($text, base64_encode($key)) ? $text : '.';
}
echo "\n";
caught(fn() => serialize($queue));
caught(fn() => $job->update('x', null, ['alg' => 'a']));
caught(fn() => $job->update('x', null, ['alg' => 'a', 'key' => 'k', 'tag' => 1]));
caught(fn() => $job->update('x', null, ['alg' => 'a', 'key' => 'k', 'tag' => '', 'more' => '']));
caught(fn() => $job->update('x', null, ['alg' => 'a', 'key' => 'k', 'tag' => "\xff"]));
caught(fn() => $job->update([], null, ['alg' => 'a', 'key' => 'k', 'tag' => '']));
$job->ack();
?>
--EXPECT--
TypeError: DelayQueue::__construct(): Option "keys" must be of type array, null given
TypeError: DelayQueue::__construct(): Option "keys" must be of type array, string given
DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "keys" must not be empty
TypeError: DelayQueue::__construct(): Option "keys" must be an array of strings, int given
TypeError: DelayQueue::__construct(): Option "keys" must be an array of strings, null given
TypeError: DelayQueue::__construct(): Option "keys" must be an array of strings, array given
TypeError: DelayQueue::__construct(): Option "signed" must be of type bool, array given
DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "signed" must not be true without the option "keys"
'unter2-hu…, 'hunter2-h…, '', 'base64:', 'base64:aH…, 'aHVudGVyM…, 'base64:****' => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "keys" must have keys of 32 bytes, or "base64:" and these in base64, that of "k1" is not
'hunter2-h…, '', 'a b', 'kkkkkkkkk…, '\377' => DelayQueue\InvalidArgument: DelayQueue::__construct(): Option "keys" must have key ids of 1 to 64 bytes of [A-Za-z0-9_.-]
DelayQueue DelayQueue DelayQueue 
........
Exception: Serialization of 'DelayQueue' is not allowed
DelayQueue\InvalidArgument: DelayQueue\Job::update(): Argument #3 ($seal) must have the keys "alg", "key" and "tag"
TypeError: DelayQueue\Job::update(): Argument #3 ($seal) must be an array of strings, int given for "tag"
DelayQueue\InvalidArgument: DelayQueue\Job::update(): Argument #3 ($seal) has the unknown key "more"
DelayQueue\InvalidArgument: DelayQueue\Job::update(): Argument #3 ($seal) must have at most 200 bytes of valid UTF-8 for "tag"
TypeError: DelayQueue\Job::update(): Argument #1 ($payload) must be of type string, array given
