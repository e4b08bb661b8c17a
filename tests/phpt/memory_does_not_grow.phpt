--TEST--
Objects, arguments, errors and payloads leak nothing
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$offline = offline();
$work = [
    'round' => function () use ($queue) { $queue->push(['a' => [1, 'b']], id: 'x', ttr: '30s'); $job = $queue->reserve(); $job->payload; $queue->peek('x'); $queue->list(DelayQueue\State::Reserved); $job->touch(); $job->ack(); },
    'many' => function () use ($queue) { $queue->pushMany((function () { yield ['payload' => 'p', 'backoff' => DelayQueue\Backoff::fixed(1)]; })()); $queue->ackMany(...$queue->reserveMany(3)); },
    'errors' => function () use ($offline) {
        foreach ([fn() => $offline->push("\xff"), fn() => $offline->push(1, -1), fn() => $offline->push(1, []), fn() => $offline->pushMany([['payload' => NAN]]), fn() => new DelayQueue('q', 'x://'), fn() => new DelayQueue\Job, fn() => $offline->pushMany((function () { yield 1; })()), fn() => clone $offline] as $bad) {
            try { $bad(); } catch (Throwable) {}
        }
    },
    'dates' => function () { new DelayQueue\Release(new DateInterval('P1D')); new DelayQueue\Release('1h', 'm'); },
    'stats' => function () use ($queue) { $queue->stats()->lateness(); $queue->stats()->toPrometheus(); DelayQueue\Stats::prometheusPage($queue->stats()); $queue->stats()->runTimes(); $queue->stats()->waitTime(true); $queue->queues(); count($queue); $queue->watch('a', 'b')->watch(); },
];
foreach ($work as $name => $call) {
    for ($i = 0; $i < 20; $i++) $call();
    $before = memory_get_usage();
    for ($i = 0; $i < 300; $i++) $call();
    gc_collect_cycles();
    $grown = memory_get_usage() - $before;
    echo $name, ' ', $grown < 300 ? 'does not grow' : "grows by $grown", "\n";
}
?>
--EXPECT--
round does not grow
many does not grow
errors does not grow
dates does not grow
stats does not grow
