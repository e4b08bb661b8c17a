--TEST--
enlist(): a loop around reserve() is in workers(), and hears the orders of operators
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\WorkerOrder;
$queue = queue();
$queue->purge();
$workers = fn() => array_values(array_filter($queue->workers(), fn($worker) => $worker['pid'] === getmypid()));
function until(callable $isTrue): void { for ($end = microtime(true) + 60; !$isTrue(); usleep(20_000)) microtime(true) < $end || exit('not in time'); }
$enlisted = $queue->enlist('mine');
until(fn() => $workers() !== []);
[$worker] = $workers();
echo json_encode([$worker['kind'], $worker['state'], $worker['queues'] === [$queue->name()], $worker['job'], $enlisted->order()]), "\n";
$queue->push(1, id: 'a');
$job = $queue->reserve();
until(fn() => ($workers()[0]['job'] ?? null) !== null);
echo json_encode([$workers()[0]['state'], $workers()[0]['job']['id']]), "\n";
$job->ack();
$queue->tellWorkers(WorkerOrder::Pause);
$began = microtime(true);
until(function () use ($queue, $enlisted) { $queue->reserve(0.2); return $enlisted->order() !== null; });
echo $enlisted->order()->name, ' ', microtime(true) - $began < 20 ? 'in time' : 'late', "\n";
$queue->push(1, id: 'b');
$began = microtime(true);
echo json_encode([$queue->reserve(0.5), microtime(true) - $began >= 0.5, $queue->reserveMany(5), $queue->reserve(0)]), "\n";
$queue->tellWorkers(WorkerOrder::Resume);
echo $queue->reserve(null)->id, ' ', json_encode($enlisted->order()), "\n";
$queue->tellWorkers(WorkerOrder::Stop);
echo json_encode([$queue->reserve(null), $queue->reserve(null), $queue->reserveMany(2, 60)]), ' ', $enlisted->order()->name, "\n";
caught(fn() => $queue->enlist());
unset($enlisted);
var_dump($workers());
$queue->push(1, id: 'c');
$queue->consume(function () use ($queue) { caught(fn() => $queue->enlist()); }, maxJobs: 1);
$enlisted = $queue->enlist();
$enlisted->close();
$enlisted->close();
var_dump($enlisted->order(), $workers());
$queue->enlist();
var_dump($workers());
caught(fn() => clone $enlisted);
?>
--EXPECT--
["mine","idle",true,null,null]
["working","a"]
Pause in time
[null,true,[],null]
b null
[null,null,[]] Stop
Error: This object is on the list of workers already
array(0) {
}
Error: DelayQueue::enlist() must not be called within consume(), whose loop is on the list
NULL
array(0) {
}
array(0) {
}
Error: Trying to clone an uncloneable object of class DelayQueue\Enlisted
