--TEST--
Several queues are served in the order of watch(), each job to the queue it came from
--FILE--
<?php
require __DIR__ . '/helpers.inc';
[$urgent, $normal, $rest] = [queue(suffix: '-urgent'), queue(suffix: '-normal'), queue(suffix: '-rest')];
foreach ([$rest, $normal, $urgent] as $queue) {
    $queue->pushMany([['payload' => 'a'], ['payload' => 'b'], ['payload' => 'c']]);
}
$names = array_map(fn (string $suffix) => basename(__FILE__, '.php') . $suffix, ['-urgent', '-normal', '-rest']);
$short = fn (string $queue) => substr($queue, strrpos($queue, '-') + 1);
$order = [];
$reason = queue()->watch(...$names)->consume(function (DelayQueue\Job $job) use (&$order, $short, $urgent) {
    $order[] = $short($job->queue) . " $job->payload";
    if ($order === ['urgent a', 'urgent b', 'urgent c', 'normal a']) {
        $urgent->push('late');
    }
    return $job->payload !== 'b';
}, stopWhenEmpty: true);
echo implode("\n", $order), "\n$reason->name\n";
foreach ([$urgent, $normal, $rest] as $queue) {
    echo $queue->stats()->acked, ' acknowledged, ', $queue->stats()->failed, " failed\n";
}
?>
--EXPECT--
urgent a
urgent b
urgent c
normal a
urgent late
normal b
normal c
rest a
rest b
rest c
Empty
3 acknowledged, 1 failed
2 acknowledged, 1 failed
2 acknowledged, 1 failed
