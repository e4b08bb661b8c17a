--TEST--
The DSN is a sensitive parameter
--FILE--
<?php
require __DIR__ . '/helpers.inc';
function leak(string $dsn): void
{
    try {
        new DelayQueue('bad name', $dsn);
    } catch (ValueError $e) {
        echo $e->getMessage(), "\n";
        var_dump($e->getTrace()[0]['args'][1]);
        var_dump(str_contains(print_r($e->getTrace()[0], true), 'hunter2'));
    }
}
ini_set('zend.exception_ignore_args', '0');
leak('redis://:hunter2@127.0.0.1:1/0');
caught(fn() => new DelayQueue('q', 'redis://:hunter2@127.0.0.1:port/0'));
try {
    (new DelayQueue('q', 'redis://user:hunter2@127.0.0.1:1/0'))->push(1);
} catch (DelayQueue\ConnectionException $e) {
    var_dump(str_contains((string) $e, 'hunter2'), str_contains($e->getMessage(), '127.0.0.1:1'));
}
?>
--INI--
zend.exception_ignore_args=0
--EXPECT--
DelayQueue::__construct(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
object(SensitiveParameterValue)#3 (0) {
}
bool(false)
DelayQueue\InvalidArgument: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, invalid port number; in a password write %40 for @, %3A for :, %2F for /, %3F for ?, %23 for # and %25 for %
bool(false)
bool(true)
