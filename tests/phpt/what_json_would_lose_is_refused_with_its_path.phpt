--TEST--
Objects of which json_encode() keeps nothing are refused wherever they stand; every other payload stays as it is
--FILE--
<?php
require __DIR__ . '/helpers.inc';
class Order { public $id = 7; public $then; private $hidden; function __construct($then = null) { $this->then = $then; $this->hidden = fn() => 1; } }
class Money implements JsonSerializable { function jsonSerialize(): mixed { return new stdClass; } }
class Later extends Exception { }
function generator() { yield 1; }
$queue = offline();
$shared = fn() => 1;
foreach ([
    ['a' => fn() => 1], [1, [2 => generator()]], new Order(strlen(...)), ['x' => ['order' => new Order([new WeakMap])]],
    ['by' => &$shared], (object) ['deep' => (object) ['f' => $shared]],
] as $payload) {
    caught(fn() => $queue->push($payload));
}
caught(fn() => $queue->pushMany([['payload' => 1], ['payload' => ['a' => fn() => 1]]]));
caught(fn() => $queue->producer('id', 1, ['a' => fn() => 1]));
foreach ([
    [], (object) [], ['{}'], ['a' => new stdClass, 'b' => ['c' => new stdClass]], new Order, new Money, [new Money], new ArrayObject, new ArrayObject([1]),
    new class { private $a = 1; }, ['empty' => new class { }], new DateTime('@0'), new SplObjectStorage,
] as $payload) {
    $stored = $queue->prepare(['payload' => $payload])->body;
    echo $stored === json_encode($payload, JSON_UNESCAPED_SLASHES) ? '.' : "other: $stored";
}
?>
--EXPECT--
DelayQueue\PayloadException: payload['a'] is a Closure, of which JSON keeps nothing
DelayQueue\PayloadException: payload[1][2] is a Generator, of which JSON keeps nothing
DelayQueue\PayloadException: payload->then is a Closure, of which JSON keeps nothing
DelayQueue\PayloadException: payload['x']['order']->then[0] is a WeakMap, of which JSON keeps nothing
DelayQueue\PayloadException: payload['by'] is a Closure, of which JSON keeps nothing
DelayQueue\PayloadException: payload->deep->f is a Closure, of which JSON keeps nothing
DelayQueue\PayloadException: item 1: payload['a'] is a Closure, of which JSON keeps nothing
DelayQueue\PayloadException: payload['a'] is a Closure, of which JSON keeps nothing
.............
