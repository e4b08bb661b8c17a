--TEST--
consume() returns at its limits, and says which one it was
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$fill = function (int $count) use ($queue) { $queue->purge(); $queue->pushMany(array_fill(0, $count, ['payload' => 1])); };
$handled = 0;
$count = function () use (&$handled) { $handled++; };
$show = function (string $what, DelayQueue\StopReason $reason) use (&$handled, $queue) {
    echo "$what: $reason->name after $handled, ", count($queue), " left\n";
    $handled = 0;
};

$fill(5);
$show('maxJobs', $queue->consume($count, maxJobs: 3));
$show('maxJobs and prefetch', $queue->consume($count, maxJobs: 1, prefetch: 10));
echo 'reserved: ', $queue->count(DelayQueue\State::Reserved), ', attempts: ', $queue->peekReady()->attempts, "\n";
$show('stopWhenEmpty', $queue->consume($count, stopWhenEmpty: true));
$queue->push(1, delay: '1h');
$show('stopWhenEmpty with a delayed job', $queue->consume($count, stopWhenEmpty: true));

$fill(0);
$started = microtime(true);
$show('maxTime, idle', $queue->consume($count, maxTime: '300ms', idleTimeout: 60));
$took = microtime(true) - $started;
echo $took >= 0.3 && $took < 5 ? "in time\n" : "took $took s\n";
$fill(500);
$reason = $queue->consume(fn () => usleep(20_000), maxTime: 0.1);
echo 'maxTime, busy: ', $reason->name, ', ', count($queue) > 400 ? 'most are left' : count($queue), "\n";

$fill(100);
$hoard = [];
$limit = memory_get_usage(true) + (8 << 20);
$reason = $queue->consume(function () use (&$hoard) { $hoard[] = str_repeat('x', 1 << 20); }, memoryLimit: $limit);
echo 'memoryLimit: ', $reason->name, ' after ', count($hoard) >= 4 && count($hoard) <= 10 ? 'some' : count($hoard), "\n";
$hoard = [];

$show("memoryLimit '1K'", $queue->consume($count, memoryLimit: '1K', maxJobs: 1));

$fill(10);
$show('stop()', $queue->consume(function () use ($count, $queue) { $count(); $queue->stop(); }, prefetch: 5));
echo 'reserved: ', $queue->count(DelayQueue\State::Reserved), "\n";
$fill(0);
$queue->on(DelayQueue\Event::Idle, fn () => $queue->stop());
$show('stop() in a listener', $queue->consume($count, idleTimeout: 0.05));
?>
--EXPECTF--
maxJobs: MaxJobs after 3, 2 left
maxJobs and prefetch: MaxJobs after 1, 1 left
reserved: 0, attempts: 0
stopWhenEmpty: Empty after 1, 0 left
stopWhenEmpty with a delayed job: Empty after 0, 1 left
maxTime, idle: MaxTime after 0, 0 left
in time
maxTime, busy: MaxTime, most are left
memoryLimit: MemoryLimit after some
memoryLimit '1K': MemoryLimit after 0, %d left
stop(): Stopped after 1, 9 left
reserved: 0
stop() in a listener: Stopped after 0, 0 left
