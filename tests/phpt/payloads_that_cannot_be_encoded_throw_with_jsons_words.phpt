--TEST--
PayloadException carries json_last_error_msg()'s words, its code, and JsonException as previous
--FILE--
<?php
require __DIR__ . '/helpers.inc';
enum Unbacked { case One; }
class Throws implements JsonSerializable { function jsonSerialize(): mixed { throw new LogicException('from jsonSerialize'); } }
class Exits implements JsonSerializable { function jsonSerialize(): mixed { echo "leaving\n"; exit(3); } }
function generator() { yield 1; }
$recursive = [];
$recursive['self'] = &$recursive;
$object = new stdClass;
$object->self = $object;
$deep = [];
for ($i = 0; $i < 512; $i++) $deep = [$deep];
$queue = offline();
foreach ([NAN, INF, "\xff", ["a\xc0"], ["\xff" => 1], fopen('php://memory', 'r'), $recursive, $object, $deep, Unbacked::One] as $value) {
    try {
        json_encode($value, JSON_THROW_ON_ERROR);
    } catch (JsonException $expected) {
    }
    try {
        $queue->push($value);
    } catch (DelayQueue\PayloadException $e) {
        echo $e->getMessage() === $expected->getMessage() && $e->getCode() === $expected->getCode() ? 'the same: ' : 'other: ';
        echo $e->getMessage(), ' / ', get_class($e->getPrevious()), "\n";
    }
}
foreach ([fn() => 1, strlen(...), generator()] as $value) {
    caught(fn() => $queue->push($value));
    caught(fn() => $queue->update('id', $value));
}
caught(fn() => $queue->push(new Throws));
caught(fn() => $queue->pushMany([['payload' => 1], ['payload' => [new Throws]]]));
caught(fn() => $queue->producer('id', 1, ["\xff"]));
caught(fn() => offline(['maxPayload' => 3])->push('ab'));
caught(fn() => offline(['maxPayload' => 4])->push('ab', id: 'fits'));
caught(fn() => offline(['maxPayload' => 4])->pushMany([['payload' => 'abc']]));
caught(fn() => offline(['maxPayload' => 2, 'format' => 'raw'])->update('id', 'abc'));
caught(fn() => $queue->push(str_repeat('x', 1 << 20)));
register_shutdown_function(function () { echo "shutdown\n"; });
$queue->push(new Exits);
echo "not reached\n";
?>
--EXPECT--
the same: Inf and NaN cannot be JSON encoded / JsonException
the same: Inf and NaN cannot be JSON encoded / JsonException
the same: Malformed UTF-8 characters, possibly incorrectly encoded / JsonException
the same: Malformed UTF-8 characters, possibly incorrectly encoded / JsonException
the same: Malformed UTF-8 characters, possibly incorrectly encoded / JsonException
the same: Type is not supported / JsonException
the same: Recursion detected / JsonException
the same: Recursion detected / JsonException
the same: Maximum stack depth exceeded / JsonException
the same: Non-backed enums have no default serialization / JsonException
DelayQueue\PayloadException: A Closure cannot be a payload
DelayQueue\PayloadException: A Closure cannot be a payload
DelayQueue\PayloadException: A Closure cannot be a payload
DelayQueue\PayloadException: A Closure cannot be a payload
DelayQueue\PayloadException: A Generator cannot be a payload
DelayQueue\PayloadException: A Generator cannot be a payload
LogicException: from jsonSerialize
LogicException: from jsonSerialize
DelayQueue\PayloadException: Malformed UTF-8 characters, possibly incorrectly encoded
DelayQueue\PayloadException: the payload of 4 bytes is larger than maxPayload (3 bytes)
DelayQueue\ConnectionException: pushing job 'fits' to queue 'offline': cannot connect to redis+unix:///nonexistent/redis.sock?db=0: no such socket: is Redis running, with this 'unixsocket'?
DelayQueue\PayloadException: item 0: the payload of 5 bytes is larger than maxPayload (4 bytes)
DelayQueue\PayloadException: the payload of 3 bytes is larger than maxPayload (2 bytes)
DelayQueue\PayloadException: the payload of 1048578 bytes is larger than maxPayload (1048576 bytes)
leaving
shutdown
