--TEST--
Errors of Redis: class, code, what was being done
--CONFLICTS--
all
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$name = basename(__FILE__, '.php');
$queue = queue();
$listener = stream_socket_server('tcp://127.0.0.1:0');
$port = (int) substr(strrchr(stream_socket_get_name($listener, false), ':'), 1);
fclose($listener);
redis('CONFIG', 'SET', 'port', (string) $port);
$as = fn(string $who): DelayQueue => new DelayQueue($name, "redis://$who@127.0.0.1:$port/0");
echo "-- authentication\n";
try {
    $as('nobody:hunter2')->push(1);
} catch (DelayQueue\AuthenticationException $e) {
    echo get_class($e), ' ', str_contains($e->getMessage(), 'WRONGPASS') ? 'WRONGPASS' : $e->getMessage(), ' ', json_encode(str_contains((string) $e, 'hunter2')), "\n";
}
echo "-- out of memory\n";
$queue->push('before', id: 'before');
redis('CONFIG', 'SET', 'maxmemory', '1');
try {
    $queue->push('after', id: 'after');
} catch (DelayQueue\QueueFullException $e) {
    echo get_class($e), ' ', $e->redisCode, "\n";
}
$job = $queue->reserve();
var_dump($job->id);
$job->ack();
redis('CONFIG', 'SET', 'maxmemory', '0');
var_dump(count($queue));
echo "-- permissions\n";
redis('ACL', 'SETUSER', 'limited', 'on', '>secret', '~*', '&*', '+@connection', '+eval', '+evalsha', '+script', '+time', '-@write');
try {
    $as('limited:secret')->push(1);
} catch (DelayQueue\ServerException $e) {
    echo get_class($e), ' ', $e->redisCode, ' ', str_contains($e->getMessage(), "queue '$name'") ? 'named' : $e->getMessage(), "\n";
}
redis('ACL', 'DELUSER', 'limited');
redis('CONFIG', 'SET', 'port', '0');
echo "-- a foreign key in our place\n";
$queue->push(1);
foreach (redis('KEYS', "dq:{{$name}}*") as $key) {
    redis('DEL', $key);
    redis('SET', $key, 'foreign');
}
try {
    $queue->push(1);
} catch (DelayQueue\ServerException $e) {
    echo get_class($e), ' ', $e->redisCode, "\n";
}
foreach (redis('KEYS', "dq:{{$name}}*") as $key) {
    redis('DEL', $key);
}
echo "-- a killed connection is opened again\n";
$queue->push('a', id: 'a');
redis('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes');
var_dump($queue->push('b', id: 'b'), count($queue));
$queue->purge();
?>
--EXPECT--
-- authentication
DelayQueue\AuthenticationException WRONGPASS false
-- out of memory
DelayQueue\QueueFullException OOM
string(6) "before"
int(0)
-- permissions
DelayQueue\ServerException NOPERM named
-- a foreign key in our place
DelayQueue\ServerException WRONGTYPE
-- a killed connection is opened again
string(1) "b"
int(2)
