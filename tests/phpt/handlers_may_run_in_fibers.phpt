--TEST--
Fibers inside handlers, and loops inside fibers
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Job;
$queue = queue();
$numbers = fn (int $count, int $maxAttempts = 1) => $queue->pushMany(array_map(fn ($n) => ['payload' => $n, 'id' => "job-$n", 'maxAttempts' => $maxAttempts], range(1, $count)));

$numbers(2);
$queue->consume(function (Job $job) {
    $fiber = new Fiber(function () use ($job) { $got = Fiber::suspend($job->payload); return "$job->payload $got"; });
    echo 'inside: ', $fiber->start(), ', ';
    $fiber->resume('resumed');
    echo $fiber->getReturn(), "\n";
}, stopWhenEmpty: true);

$numbers(3);
$loop = new Fiber(fn () => $queue->consume(function (Job $job) { $got = Fiber::suspend($job->payload); echo "got $got\n"; }, stopWhenEmpty: true, timeout: 20));
for ($payload = $loop->start(); !$loop->isTerminated(); $payload = $loop->resume("answer to $payload")) {
    echo "outside: $payload\n";
    $queue->peek("job-$payload") ?? print("missing\n");
}
echo $loop->getReturn()->name, ', ', count($queue), " left\n";

$numbers(4, 2); // one with a single attempt would be leased alone
$loops = [];
foreach (['a', 'b'] as $name) {
    $loops[$name] = new Fiber(fn () => $queue->consume(fn (Job $job) => Fiber::suspend("$name $job->payload"), stopWhenEmpty: true, prefetch: 2, timeout: 20));
}
$said = [];
foreach ($loops as $loop) $said[] = $loop->start();
while ($loops = array_filter($loops, fn ($loop) => !$loop->isTerminated())) {
    foreach ($loops as $loop) $said[] = $loop->resume();
}
echo implode(', ', array_filter($said)), ', ', count($queue), " left\n";

$numbers(2, 2);
$loop = new Fiber(fn () => $queue->consume(fn () => Fiber::suspend(), prefetch: 2));
$loop->start();
echo 'reserved: ', $queue->count(DelayQueue\State::Reserved), "\n";
unset($loop);
gc_collect_cycles();
echo $queue->peek('job-1')->state->value, ': ', $queue->peek('job-1')->lastError, "\n";
echo $queue->peek('job-2')->state->value, ', attempts: ', $queue->peek('job-2')->attempts, "\n";
$queue->purge();

$numbers(1);
$loop = new Fiber(fn () => $queue->consume(fn () => Fiber::suspend(), maxJobs: 1, prefetch: 2));
$loop->start();
try {
    $loop->throw(new LogicException('from outside'));
} catch (LogicException) {
    echo "not reached\n";
}
echo $loop->getReturn()->name, ': ', strtok($queue->peek('job-1')->lastError, "\n"), "\n";
?>
--EXPECT--
inside: 1, 1 resumed
inside: 2, 2 resumed
outside: 1
got answer to 1
outside: 2
got answer to 2
outside: 3
got answer to 3
Empty, 0 left
a 1, b 3, a 2, b 4, 0 left
reserved: 2
delayed: the fiber in which the handler ran was destroyed
ready, attempts: 0
MaxJobs: LogicException: from outside
