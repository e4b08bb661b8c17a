--TEST--
sibling() makes another queue of the same Redis, prefix and options, but for those that are given
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Backoff;

function told(DelayQueue $queue): string
{
    ob_start();
    var_dump($queue);
    preg_match_all('/"(?!dsn)(\w+)"\]=>\s+(.*)/', ob_get_clean(), $found);
    return implode(' ', array_map(fn ($name, $value) => "$name=" . preg_replace('/^\w+\((.*?)\)( |$)/', '$1 ', $value), $found[1], $found[2]));
}
putenv('DELAYQUEUE_PREFIX=first');
$queue = queue(['ttr' => 30, 'maxAttempts' => 3, 'backoff' => Backoff::fixed(7), 'priority' => 5, 'format' => 'raw', 'partitions' => 3, 'maxPayload' => 10,
    'keys' => ['k1' => str_repeat('k', 32)], 'signed' => true]);
putenv('DELAYQUEUE_PREFIX=second');
$sibling = $queue->watch('a', 'b')->sibling('beside');
echo told($queue), "\n", told($sibling), "\n";
var_dump($sibling->settings()->dsn === $queue->settings()->dsn);
echo told($sibling->sibling('beside', ['ttr' => 40, 'prefix' => 'third'])), "\n";

// Keys, partitions and the largest payload.
$sibling->purge();
$sibling->pushMany(array_map(fn (int $n) => ['payload' => "p$n", 'id' => "$n"], range(1, 9)));
var_dump($sibling->partitions(), $sibling->peek('1')->seal['alg'], $sibling->peek('1')->payload);
caught(fn () => $sibling->push('more than ten bytes'));
$sibling->cancel('1');
$sibling->sibling('beside', ['signed' => false])->push('p1', id: '1');
var_dump($sibling->peek('1')->seal['alg'], $sibling->peek('1')->payload);
$sibling->cancel('1');
$sibling->sibling('beside', ['keys' => ['k2' => str_repeat('l', 32)]])->push('p1', id: '1');
var_dump($sibling->peek('1')->seal['key'], $sibling->peek('1')->seal['alg'], $sibling->peek('1')->sealError !== null);
$sibling->purge();

// A number of replicas goes with its durability.
foreach ([['durability' => 'replica'], ['replicas' => 2], ['durability' => 'memory'], ['durability' => 'disk', 'replicas' => 2]] as $options) {
    caught(fn () => offline(['durability' => 'replica', 'replicas' => 3])->sibling('x', $options));
}
caught(fn () => $queue->sibling('a b'));
caught(fn () => $queue->sibling('a', ['compress' => true]));
caught(fn () => $queue->sibling('a', ['ttr' => 0]));
caught(fn () => $queue->sibling('a', ['keys' => []]));
caught(fn () => queue()->sibling('a', ['signed' => true]));
caught(fn () => $queue->sibling());
caught(fn () => $queue->sibling('a', 5));

// Connections are shared as by objects of the constructor.
$connections = fn () => preg_match('/connected_clients:(\d+)/', redis('INFO', 'clients'), $match) ? (int) $match[1] : null;
queue()->count();
$before = $connections();
$objects = [queue()->sibling('c'), queue()->sibling('d')->sibling('e')];
array_map(fn ($queue) => $queue->count(), $objects);
echo $connections() - $before, ' ';
$own = queue(['persistent' => false]);
$objects = [$own, $own->sibling('c')];
array_map(fn ($queue) => $queue->count(), $objects);
echo $connections() - $before, "\n";
?>
--EXPECT--
name=47 "siblings_are_other_queues_with_the_same_options" prefix=5 "first" watch=2 { ttr=30  maxAttempts=3  backoff=8 "fixed 7s" priority=5  format=3 "raw" sealed=true 
name=6 "beside" prefix=5 "first" watch=1 { ttr=30  maxAttempts=3  backoff=8 "fixed 7s" priority=5  format=3 "raw" sealed=true 
bool(true)
name=6 "beside" prefix=5 "third" watch=1 { ttr=40  maxAttempts=3  backoff=8 "fixed 7s" priority=5  format=3 "raw" sealed=true 
int(3)
string(11) "hmac-sha256"
string(2) "p1"
DelayQueue\PayloadException: the payload of 19 bytes is larger than maxPayload (10 bytes)
string(18) "xchacha20-poly1305"
string(2) "p1"
string(2) "k2"
string(11) "hmac-sha256"
bool(true)
no exception: DelayQueue
no exception: DelayQueue
no exception: DelayQueue
DelayQueue\InvalidArgument: DelayQueue::sibling(): Option "replicas" must not be given without durability "replica"
DelayQueue\InvalidArgument: DelayQueue::sibling(): Argument #1 ($queue) must be 1 to 200 bytes of [A-Za-z0-9._:-]
DelayQueue\InvalidArgument: DelayQueue::sibling(): Argument #2 ($options) has the unknown option "compress"; there are 'prefix', 'ttr', 'maxAttempts', 'priority', 'backoff', 'format', 'maxPayload', 'connectTimeout', 'readTimeout', 'durability', 'replicas', 'partitions', 'capacity', 'persistent', 'keys' and 'signed'
DelayQueue\InvalidArgument: DelayQueue::sibling(): Option "ttr" must be between 0.1 seconds and 30 days
DelayQueue\InvalidArgument: DelayQueue::sibling(): Option "keys" must not be empty
DelayQueue\InvalidArgument: DelayQueue::sibling(): Option "signed" must not be true without the option "keys"
ArgumentCountError: DelayQueue::sibling() expects at least 1 argument, 0 given
TypeError: DelayQueue::sibling(): Argument #2 ($options) must be of type array, int given
0 2
