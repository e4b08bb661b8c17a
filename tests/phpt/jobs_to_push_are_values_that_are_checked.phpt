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
        echo $error->getMessage(), ' ', json_encode([$error->parameter, $error->item, $error->key]), "\n";
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
