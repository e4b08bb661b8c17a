--TEST--
The DSN comes from the argument, else ini, else the environment, else the local Redis
--FILE--
<?php
require __DIR__ . '/helpers.inc';
function target(?string $dsn = null): void
{
    try {
        (new DelayQueue('q', $dsn, ['connectTimeout' => 0.2]))->count();
    } catch (Throwable $e) {
        preg_match('/[a-z-]+\.sock|127.0.0.1:6379|environment.*/', $e->getMessage(), $match);
        echo $match[0] ?? $e->getMessage(), "\n";
    }
}
putenv('DELAYQUEUE_DSN=redis+unix:///nonexistent/environment.sock');
ini_set('delayqueue.dsn', 'redis+unix:///nonexistent/ini.sock');
target('redis+unix:///nonexistent/argument.sock');
target();
ini_set('delayqueue.dsn', '');
target();
putenv('DELAYQUEUE_DSN=nonsense');
target();
foreach (['', 'redis', 'http://h', 'redis://', 'redis://h:0/0', 'redis://h:65536', 'redis://h:x', 'redis://h/x', 'redis://h/-1', 'redis://%zz@h', "redis://h\0", "redis://\xff", 'redis+unix://relative'] as $dsn) {
    caught(fn() => new DelayQueue('q', $dsn));
}
?>
--EXPECT--
argument.sock
ini.sock
environment.sock
environment variable DELAYQUEUE_DSN must be a valid DSN, such as redis://127.0.0.1:6379/0
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, such as redis://127.0.0.1:6379/0
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, such as redis://127.0.0.1:6379/0
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its scheme is unknown: redis, rediss, redis+unix, redis+sentinel or redis+cluster, or the same with valkey
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its host is missing
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its port must be between 1 and 65535
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, invalid port number
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, invalid port number
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its database must be a number
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its database must be a number
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its user has a bad %-escape
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must not contain control characters
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be valid UTF-8
ValueError: DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, it must name a socket: redis+unix:///path
