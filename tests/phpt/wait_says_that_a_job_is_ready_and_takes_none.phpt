--TEST--
wait(): true as soon as a watched queue has a ready job, which it leaves there; signals and stop() are obeyed
--EXTENSIONS--
pcntl
--FILE--
<?php
require __DIR__ . '/helpers.inc';
require __DIR__ . '/../phpunit/support/Machine.php';
use DelayQueue\Tests\Support\Machine;
Machine::watch();
$queue = queue();
var_dump($queue->wait(0), $queue->wait(0.02));
$queue->push(1);
var_dump($queue->wait(), $queue->wait(0), $queue->peekReady()->attempts, $queue->reserve()->attempts);

echo "-- until it falls due\n";
$queue->push(2, '300ms', id: 'soon');
$start = microtime(true);
var_dump($queue->wait(10), microtime(true) - $start > 0.25, Machine::lasted($start) < 5, $queue->reserve()->id);

echo "-- until another queue has one\n";
$other = queue(suffix: '-other');
$queue->watch($other->push(1, id: 'queue') . '-without', basename(__FILE__, '.php') . '-other');
var_dump($queue->wait());
$other->purge();

echo "-- stop() and signals\n";
pcntl_async_signals(true);
pcntl_signal(SIGALRM, function () use ($queue) { echo "handler\n"; $queue->stop(); });
pcntl_alarm(1);
var_dump($queue->wait());
var_dump($queue->wait(0.01));
pcntl_signal(SIGALRM, function () { throw new RuntimeException('out of the handler'); });
pcntl_alarm(1);
caught(fn () => $queue->wait());
caught(fn () => $queue->wait('soon'));
?>
--EXPECT--
bool(false)
bool(false)
bool(true)
bool(true)
int(0)
int(1)
-- until it falls due
bool(true)
bool(true)
bool(true)
string(4) "soon"
-- until another queue has one
bool(true)
-- stop() and signals
handler
bool(false)
bool(false)
RuntimeException: out of the handler
TypeError: DelayQueue::wait(): Argument #1 ($timeout) must be of type int|float|null, string given
