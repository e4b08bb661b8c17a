--TEST--
A prefetched job does not run while it waits for the handler of the one before
--FILE--
<?php
require __DIR__ . '/helpers.inc';
$queue = queue();
$queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'maxAttempts' => 3], range(1, 8)));
$queue->consume(static function (DelayQueue\Job $job): void {
    if ($job->payload === 8) {
        usleep(1_100_000);
        throw new DelayQueue\Bury('enough');
    }
    usleep($job->payload === 1 ? 600_000 : 1_000);
}, prefetch: 8, stopWhenEmpty: true);
$times = $queue->stats()->runTimes();
var_dump(array_map(static fn (array $one): int => $one['count'], $times));
// Only the first one was slow; seven jobs have waited for it, in the hands of the worker.
var_dump($times['acked']['p50'] < 300, $times['acked']['p99'] > 500, $times['buried']['p50'] > 1000);

$queue->push('at once');
$job = $queue->reserve();
usleep(300_000);
$job->fail('no');
var_dump($queue->stats()->runTimes()['failed']['p50'] > 250, $queue->stats()->runTimes() == $queue->stats()->runTimes(sinceStart: true));
$queue->purge();
?>
--EXPECT--
array(5) {
  ["acked"]=>
  int(7)
  ["failed"]=>
  int(0)
  ["released"]=>
  int(0)
  ["buried"]=>
  int(1)
  ["timed_out"]=>
  int(0)
}
bool(true)
bool(true)
bool(true)
bool(true)
bool(true)
