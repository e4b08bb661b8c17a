--TEST--
Exceptions: hierarchy, properties, subclassing, file, line and previous
--FILE--
<?php
require __DIR__ . '/helpers.inc';
foreach (['Connection', 'Authentication', 'Server', 'QueueFull', 'LeaseLost', 'DuplicateJob', 'Payload', 'Seal', 'Timeout', 'Shutdown'] as $name) {
    $class = "DelayQueue\\{$name}Exception";
    echo $class, ': ', implode(' < ', class_parents($class)), ' ', json_encode(is_a($class, DelayQueue\Exception::class, true)), "\n";
}
class MyRelease extends DelayQueue\Release
{
    public function __construct(public string $why)
    {
        parent::__construct('30s', "because $why");
    }
}
class MyMarker extends LogicException implements DelayQueue\Exception {}
$previous = new LogicException('first');
$e = new DelayQueue\ServerException('message', 7, $previous);
var_dump($e->getMessage(), $e->getCode(), $e->getPrevious() === $previous, basename($e->getFile()), $e->getLine(), $e->redisCode);
$e = new DelayQueue\ConnectionException('lost');
$e->ambiguous = true;
var_dump($e->ambiguous, (new DelayQueue\AuthenticationException)->ambiguous);
caught(function () use ($e) { $e->ambiguous = []; });
$release = new MyRelease('of rain');
var_dump($release->delay, $release->getMessage(), $release->why, $release instanceof DelayQueue\Exception);
caught(fn() => $release->delay = 1);
caught(fn() => throw new MyMarker('mine'));
var_dump((new DelayQueue\Release)->delay, (new DelayQueue\Release(message: "a\0b"))->getMessage() === "a\0b");
caught(fn() => (new ReflectionMethod($release, '__construct'))->getDeclaringClass()->getParentClass()->getConstructor()->invoke($release, 1));
caught(fn() => (new DelayQueue\RateLimited(1))->__construct(5));
class Busy extends DelayQueue\RateLimited
{
    public function __construct()
    {
        parent::__construct('1m', 'bank', 'later');
    }
}
$busy = new Busy;
var_dump($busy instanceof DelayQueue\Release, $busy->delay, $busy->group, $busy->getMessage(), (new DelayQueue\RateLimited(0.5))->group);
caught(fn() => new DelayQueue\RateLimited());
caught(fn() => new DelayQueue\RateLimited(-1));
caught(fn() => new DelayQueue\RateLimited(1893456000));
caught(fn() => new DelayQueue\RateLimited(1, ''));
caught(fn() => new DelayQueue\RateLimited(1, message: []));
caught(fn() => $busy->group = 'x');
function offline_push() { offline()->push(1); }
try {
    offline_push();
} catch (DelayQueue\ConnectionException $e) {
    var_dump(basename($e->getFile()), $e->getLine(), $e->ambiguous, $e->getTrace()[0]['function'], $e->getTrace()[1]['function']);
}
?>
--EXPECT--
DelayQueue\ConnectionException: RuntimeException < Exception true
DelayQueue\AuthenticationException: DelayQueue\ConnectionException < RuntimeException < Exception true
DelayQueue\ServerException: RuntimeException < Exception true
DelayQueue\QueueFullException: DelayQueue\ServerException < RuntimeException < Exception true
DelayQueue\LeaseLostException: RuntimeException < Exception true
DelayQueue\DuplicateJobException: RuntimeException < Exception true
DelayQueue\PayloadException: InvalidArgumentException < LogicException < Exception true
DelayQueue\SealException: RuntimeException < Exception true
DelayQueue\TimeoutException: RuntimeException < Exception true
DelayQueue\ShutdownException: RuntimeException < Exception true
string(7) "message"
int(7)
bool(true)
string(42) "exceptions_form_the_promised_hierarchy.php"
int(16)
string(0) ""
bool(true)
bool(false)
TypeError: Cannot assign array to property DelayQueue\ConnectionException::$ambiguous of type bool
float(30)
string(15) "because of rain"
string(7) "of rain"
bool(true)
Error: Cannot modify readonly property DelayQueue\Release::$delay
MyMarker: mine
float(0)
bool(true)
Error: Cannot modify readonly property DelayQueue\Release::$delay
Error: Cannot modify readonly property DelayQueue\Release::$delay
bool(true)
float(60)
string(4) "bank"
string(5) "later"
NULL
ArgumentCountError: DelayQueue\RateLimited::__construct() expects at least 1 argument, 0 given
DelayQueue\InvalidArgument: DelayQueue\RateLimited::__construct(): Argument #1 ($for) must be greater than or equal to 0
DelayQueue\InvalidArgument: DelayQueue\RateLimited::__construct(): Argument #1 ($for) must be a delay, and 1893456000 looks like a Unix time: for a moment give 1893456000 - time()
DelayQueue\InvalidArgument: DelayQueue\RateLimited::__construct(): Argument #2 ($group) must be between 1 and 200 bytes long
TypeError: DelayQueue\RateLimited::__construct(): Argument #3 ($message) must be of type string, array given
Error: Cannot modify readonly property DelayQueue\RateLimited::$group
string(42) "exceptions_form_the_promised_hierarchy.php"
int(44)
bool(false)
string(4) "push"
string(12) "offline_push"
