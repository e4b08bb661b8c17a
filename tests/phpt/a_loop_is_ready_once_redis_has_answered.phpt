--TEST--
Event::WorkerReady: after Redis has answered, before the first job; a user that lacks a right gets no job; while Redis is away the loop waits
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Event;
$heard = function (DelayQueue $queue): DelayQueue {
    foreach ([Event::WorkerStarting, Event::ConnectionLost, Event::WorkerReady, Event::Processing, Event::WorkerStopping] as $event) {
        $queue->on($event, fn (Event $event) => print("$event->name\n"));
    }
    return $queue;
};
$name = queue()->name();
queue()->push(1, id: 'a');

echo "a listener stops the loop\n";
$queue = $heard(queue());
$queue->on(Event::WorkerReady, fn () => $queue->stop());
$queue->consume(fn () => null, maxTime: 20);
echo queue()->peek('a')->attempts, " attempts\n";

echo "a right is missing\n";
redis('ACL', 'SETUSER', $name, 'on', '>secret', '~*', '&*', '+@all', '-hset');
$dsn = str_replace('unix://', "unix://$name:secret@", getenv('DELAYQUEUE_TEST_DSN'));
$queue = $heard(new DelayQueue($name, $dsn));
try {
    $queue->consume(fn () => null, maxTime: 20);
} catch (DelayQueue\ServerException $e) {
    var_dump($e->redisCode, str_contains($e->getMessage(), "'hset'"));
}
echo queue()->peek('a')->attempts, " attempts\n";
redis('ACL', 'DELUSER', $name);

echo "Redis is away\n";
$queue = $heard(offline());
$queue->on(Event::ConnectionLost, fn () => $queue->stop());
$queue->consume(fn () => null, maxTime: 20);

echo "nobody listens\n";
echo queue()->drain(fn () => null), " job\n";
?>
--EXPECT--
a listener stops the loop
WorkerStarting
WorkerReady
WorkerStopping
0 attempts
a right is missing
WorkerStarting
string(6) "NOPERM"
bool(true)
0 attempts
Redis is away
WorkerStarting
ConnectionLost
WorkerStopping
nobody listens
1 job
