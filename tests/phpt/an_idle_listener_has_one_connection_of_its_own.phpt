--TEST--
Listeners that use the queue while it is waited for do so over a second connection, always the same
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$seen = [];
$look = function () use (&$seen): void {
    preg_match_all('/^id=(\d+) .* name=delayqueue:' . getmypid() . ' /m', redis('CLIENT', 'LIST'), $found);
    $seen += array_fill_keys($found[1], true);
};
$queue->on(DelayQueue\Event::Idle, function () use ($queue, $look) {
    $queue->push(count($queue));
    $look();
});
echo $queue->consume($look, idleTimeout: 0.02, maxJobs: 6)->name, "\n";
echo count($seen), " connections\n";
?>
--EXPECT--
MaxJobs
2 connections
