--TEST--
Prefix and DSN come from argument, ini, environment, $_ENV, $_SERVER or default, in this order
--INI--
auto_globals_jit=1
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$look = function (string $from, ?string $dsn = null, array $options = []): void {
    $queue = new DelayQueue('q', $dsn, $options);
    echo str_pad($from, 12), $queue->dsn(), ' ', $queue->prefix(), "\n";
};
$look('default');
$_SERVER['DELAYQUEUE_DSN'] = 'redis://server:1/0';
$_SERVER['DELAYQUEUE_PREFIX'] = 'server';
$look('$_SERVER');
$_ENV['DELAYQUEUE_DSN'] = 'redis://env:1/0';
$_ENV['DELAYQUEUE_PREFIX'] = 'env';
$look('$_ENV');
putenv('DELAYQUEUE_DSN=redis://process:1/0');
putenv('DELAYQUEUE_PREFIX=process');
$look('environment');
ini_set('delayqueue.dsn', 'redis://ini:1/0');
ini_set('delayqueue.prefix', 'ini');
$look('ini');
$look('argument', 'redis://argument:1/0', ['prefix' => 'option']);
// Each by itself, and an empty one counts as not set.
ini_restore('delayqueue.dsn');
$look('mixed');
ini_set('delayqueue.prefix', '');
putenv('DELAYQUEUE_PREFIX=');
$_ENV['DELAYQUEUE_PREFIX'] = ['no string'];
$look('empty');
// The prefix is that of the keys.
putenv('DELAYQUEUE_DSN');
putenv('DELAYQUEUE_PREFIX=fromenv');
$queue = new DelayQueue('q', getenv('DELAYQUEUE_TEST_DSN'));
$queue->push(1);
var_dump(redis('EXISTS', 'fromenv:{q}:jobs'), count($queue), count(new DelayQueue('q', getenv('DELAYQUEUE_TEST_DSN'), ['prefix' => 'dq'])));
$queue->purge();
putenv('DELAYQUEUE_PREFIX=a{b}');
caught(fn() => new DelayQueue('q'));
putenv('DELAYQUEUE_DSN=nonsense');
caught(fn() => new DelayQueue('q'));
$bad = ['', 'redis', 'http://h', 'redis://', 'redis://h:0/0', 'redis://h:65536', 'redis://h:x', 'redis://h/x', 'redis://h/-1', 'redis://%zz@h', "redis://h\0", "redis://\xff", 'redis+unix://relative'];
caught_each($bad, fn($dsn) => new DelayQueue('q', $dsn));
?>
--EXPECT--
default     redis://127.0.0.1:6379/0 dq
$_SERVER    redis://server:1/0 server
$_ENV       redis://env:1/0 env
environment redis://process:1/0 process
ini         redis://ini:1/0 ini
argument    redis://argument:1/0 option
mixed       redis://process:1/0 ini
empty       redis://process:1/0 server
int(1)
int(1)
int(0)
ValueError: DelayQueue::__construct(): The environment variable DELAYQUEUE_PREFIX must be 1 to 64 bytes of [A-Za-z0-9._:-]
ValueError: DelayQueue::__construct(): The environment variable DELAYQUEUE_DSN must be a valid DSN, such as redis://127.0.0.1:6379/0
'', 'redis' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, such as redis://127.0.0.1:6379/0
'http://h' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its scheme is unknown: redis, rediss, redis+unix, redis+sentinel or redis+cluster, or the same with valkey; or memory in tests
'redis://' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its host is missing
'redis://h:0/0' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its port must be between 1 and 65535
'redis://h:65536', 'redis://h:x' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, invalid port number
'redis://h/x', 'redis://h/-1' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its database must be a number
'redis://%zz@h' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its user has a bad %-escape
'redis://h' . "\0" . '' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must not contain control characters
'redis://\377' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be valid UTF-8
'redis+unix://relative' => ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, it must name a socket: redis+unix:///path
