--TEST--
NewJob is a plain value object whose constructor checks everything but the payload; each method that makes a job takes one
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\NewJob;
use DelayQueue\OnDuplicate;
$show = fn(NewJob $job) => print(json_encode(array_filter((array) $job)) . "\n");
$show(new NewJob(null));
$job = new NewJob(['order' => 1], '15m', 'order-1', 7, 30, 3, null, '10s', OnDuplicate::Replace, ['a' => 'b'], 60, '1h', group: 'tenant');
$show($job);
$show($job->with());
$show($job->with(delay: 5, maxWait: null, group: null, payload: 2));
$names = fn(ReflectionFunctionAbstract $function) => array_map(fn($p) => $p->name, $function->getParameters());
var_dump($names(new ReflectionMethod('DelayQueue', 'push')) === $names(new ReflectionMethod(NewJob::class, '__construct')),
    $names(new ReflectionMethod('DelayQueue', 'push')) === array_keys((array) $job));

echo "-- a value\n";
var_dump($job == $job->with(), $job == $job->with(ttr: 31), clone $job == $job, unserialize(serialize($job)) == $job);
caught(function () use ($job) { $job->id = 'other'; });
caught(function () use ($job) { $job->dynamic = 2; });
caught(fn() => $job->__construct(4));

foreach ([new DateTimeImmutable('@2000000000'), new DateTime('@2000000000'), new DateInterval('PT5M'), '5m', 5, 5.5] as $time) {
    $timed = new NewJob(1, $time, expires: $time);
    echo get_debug_type($timed->delay), ' ', json_encode($timed->with(ttr: 5)->expires === $time), "\n";
}

echo "-- mistakes\n";
caught(fn() => new NewJob());
caught(fn() => new NewJob(1, -1));
caught(fn() => new NewJob(1, priority: -1));
caught(fn() => new NewJob(1, headers: ['a b' => 'c']));
caught(fn() => new NewJob(1, unique: 5));
caught(fn() => new NewJob(1, maxWait: 5, id: 'x'));
caught(fn() => new NewJob(1, expires: 5, retryUntil: 6));
caught(fn() => new NewJob(1, retries: 6));
caught(fn() => new NewJob($job));
caught(fn() => $job->with(5));
caught(fn() => $job->with(ttr: 0));
caught(fn() => $job->with(onDuplicate: OnDuplicate::Fail));
caught(fn() => $job->with(payload: $job));
caught(fn() => $job->with(prioriti: 5));

echo "-- pushed\n";
$queue = queue();
$alone = $job->with(onDuplicate: OnDuplicate::Fail, maxWait: null, unique: null);
echo $queue->push($alone), ' ', json_encode($queue->tryPush($alone)), ' ', json_encode($queue->tryPush($alone->with(id: 'order-2'))), "\n";
echo json_encode($queue->tryPush(['payload' => 3, 'id' => 'order-2'])), ' ', json_encode($queue->tryPush(['payload' => 3, 'id' => 'order-3'])), "\n";
echo json_encode($queue->pushMany([$alone->with(id: 'order-4'), ['payload' => 5, 'id' => 'order-5']])), "\n";
$info = $queue->peek('order-1');
echo json_encode([$info->payload, $info->priority, $info->ttr, $info->maxAttempts, $info->timeout, $info->headers, $info->group]), "\n";
echo json_encode(array_filter((array) $queue->prepare($alone))), "\n";
echo json_encode($queue->prepare(['payload' => 1, 'delay' => 5])->delay), "\n";

echo "-- pushed by mistake\n";
function told(callable $call): void {
    try {
        $call();
    } catch (DelayQueue\InvalidArgument $error) {
        echo $error->getMessage(), ' ', json_encode([$error->parameter, $error->item, $error->key]), str_ends_with($error->getMessage(), " $error->reason") ? '' : " $error->reason", "\n";
    }
}
told(fn() => $queue->push(1, ttr: 0));
told(fn() => $queue->push($alone, ttr: 5));
told(fn() => $queue->tryPush(['payload' => 1, 'ttr' => 0]));
told(fn() => $queue->tryPush(['payload' => 1, 'tttr' => 0]));
told(fn() => $queue->tryPush(['ttr' => 1]));
told(fn() => $queue->pushMany([$alone, ['payload' => 1, 'ttr' => 0]]));
told(fn() => $queue->pushMany([$alone, ['payload' => $alone]]));
told(fn() => $queue->pushMany([$alone, ['payload' => 1, 'tttr' => 0]]));
told(fn() => new DelayQueue('x', null, ['ttr' => 0]));
told(fn() => new DelayQueue('x', null, ['tttr' => 0]));
told(fn() => new DelayQueue('x', 'http://x'));
caught(fn() => $queue->tryPush(1));
caught(fn() => $queue->pushMany([$alone, 'x']));
caught(fn() => $queue->pushMany([(new ReflectionClass(NewJob::class))->newInstanceWithoutConstructor()]));
$never = unserialize(preg_replace('/"priority";i:7/', '"priority";i:-7', serialize($alone)));
told(fn() => $queue->push($never));
var_dump($queue->count());
?>
--EXPECT--
{"onDuplicate":"fail","onExpiry":"bury"}
{"payload":{"order":1},"delay":"15m","id":"order-1","priority":7,"ttr":30,"maxAttempts":3,"timeout":"10s","onDuplicate":"replace","headers":{"a":"b"},"unique":60,"maxWait":"1h","onExpiry":"bury","group":"tenant"}
{"payload":{"order":1},"delay":"15m","id":"order-1","priority":7,"ttr":30,"maxAttempts":3,"timeout":"10s","onDuplicate":"replace","headers":{"a":"b"},"unique":60,"maxWait":"1h","onExpiry":"bury","group":"tenant"}
{"payload":2,"delay":5,"id":"order-1","priority":7,"ttr":30,"maxAttempts":3,"timeout":"10s","onDuplicate":"replace","headers":{"a":"b"},"unique":60,"onExpiry":"bury"}
bool(true)
bool(true)
-- a value
bool(true)
bool(false)
bool(true)
bool(true)
Error: Cannot modify readonly property DelayQueue\NewJob::$id
Error: Cannot create dynamic property DelayQueue\NewJob::$dynamic
Error: Cannot modify readonly property DelayQueue\NewJob::$payload
DateTimeImmutable true
DateTime true
DateInterval true
string true
int true
float true
-- mistakes
ArgumentCountError: DelayQueue\NewJob::__construct() expects at least 1 argument, 0 given
DelayQueue\InvalidArgument: DelayQueue\NewJob::__construct(): Argument #2 ($delay) must be greater than or equal to 0
DelayQueue\InvalidArgument: DelayQueue\NewJob::__construct(): Argument #4 ($priority) must be between 0 and 4294967295
DelayQueue\InvalidArgument: DelayQueue\NewJob::__construct(): Argument #10 ($headers) must have names of 1 to 100 bytes of [A-Za-z0-9._-], "a b" given
DelayQueue\InvalidArgument: DelayQueue\NewJob::__construct(): Argument #11 ($unique) must not be given without an id
DelayQueue\InvalidArgument: DelayQueue\NewJob::__construct(): Argument #12 ($maxWait) must not be given without an id and OnDuplicate::Replace
DelayQueue\InvalidArgument: DelayQueue\NewJob::__construct(): Argument #15 ($retryUntil) must not be given together with expires
Error: Unknown named parameter $retries
DelayQueue\InvalidArgument: DelayQueue\NewJob::__construct(): Argument #1 ($payload) must not be a DelayQueue\NewJob
DelayQueue\InvalidArgument: DelayQueue\NewJob::with(): Argument #1 must be given by its name
DelayQueue\InvalidArgument: DelayQueue\NewJob::with(): Argument ($ttr) must be between 0.1 seconds and 30 days
DelayQueue\InvalidArgument: DelayQueue\NewJob::with(): Argument ($maxWait) must not be given without an id and OnDuplicate::Replace
DelayQueue\InvalidArgument: DelayQueue\NewJob::with(): Argument ($payload) must not be a DelayQueue\NewJob
Error: Unknown named parameter $prioriti; did you mean 'priority'?
-- pushed
order-1 null "order-2"
null "order-3"
["order-4","order-5"]
[{"order":1},7,30,3,10,{"a":"b"},"tenant"]
{"id":"order-1","body":"{\"order\":1}","headers":{"a":"b"},"delay":900,"priority":7,"ttr":30,"maxAttempts":3,"backoff":{},"timeout":10,"onDuplicate":"fail","group":"tenant","extras":"\u0000\u0000\bG\u0006tenant{}"}
5
-- pushed by mistake
DelayQueue::push(): Argument #5 ($ttr) must be between 0.1 seconds and 30 days ["ttr",null,null]
DelayQueue::push(): Argument #1 ($payload) must be alone when it is a DelayQueue\NewJob, whose with() changes it ["payload",null,null]
DelayQueue::tryPush(): Argument #1 ($job): "ttr" must be between 0.1 seconds and 30 days ["job",null,"ttr"]
DelayQueue::tryPush(): Argument #1 ($job) has the unknown key "tttr"; did you mean 'ttr'? ["job",null,"tttr"]
DelayQueue::tryPush(): Argument #1 ($job): "payload" must be given ["job",null,"payload"]
DelayQueue::pushMany(): Argument #1 ($jobs) item 1: "ttr" must be between 0.1 seconds and 30 days ["jobs",1,"ttr"]
DelayQueue::pushMany(): Argument #1 ($jobs) item 1: "payload" must not be a DelayQueue\NewJob ["jobs",1,"payload"]
DelayQueue::pushMany(): Argument #1 ($jobs) item 1 has the unknown key "tttr"; did you mean 'ttr'? ["jobs",1,"tttr"]
DelayQueue::__construct(): Option "ttr" must be between 0.1 seconds and 30 days ["options",null,"ttr"]
DelayQueue::__construct(): Argument #3 ($options) has the unknown option "tttr"; did you mean 'ttr'? ["options",null,"tttr"]
DelayQueue::__construct(): Argument #2 ($dsn) must be a valid DSN, its scheme is unknown: redis, rediss, redis+unix, redis+sentinel or redis+cluster, or the same with valkey; or memory in tests ["dsn",null,null]
TypeError: DelayQueue::tryPush(): Argument #1 ($job) must be of type DelayQueue\NewJob|array, int given
TypeError: DelayQueue::pushMany(): Argument #1 ($jobs) item 1 must be of type DelayQueue\NewJob|array, string given
Error: The DelayQueue\NewJob object was not constructed
DelayQueue::push(): Argument #1 ($payload): "priority" must be between 0 and 4294967295 ["payload",null,"priority"]
int(5)
