--TEST--
Each event comes with its case, its job and its error
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\{Bury, Event, Job, Release};
$queue = queue();
foreach (Event::cases() as $case) {
    $queue->on($case, function (mixed ...$arguments) use ($case) {
        [$event, $job, $error, $seconds] = $arguments;
        echo '  ', $event === $case ? $event->name : 'wrong', ' ', json_encode($job?->id), ' ', $error === null ? 'null' : get_class($error);
        echo count($arguments) === 4 ? '' : ' wrong count', $job?->isSettled() ? ' settled' : '', $job?->isLost() ? ' lost' : '';
        echo $seconds === null ? '' : ($seconds >= 0.01 && $seconds < 5 ? ' after some time' : ' after ' . var_export($seconds, true)), "\n";
    });
}
$run = function (string $what, callable $handler, mixed ...$options) use ($queue) {
    echo "$what\n";
    $queue->push($what, id: 'job', maxAttempts: 2);
    $slowly = function (Job $job) use ($handler) { usleep(15_000); return $handler($job); };
    $queue->consume($slowly, ...$options + ['maxJobs' => 1]);
    $queue->cancel('job');
};
$run('succeeds', fn () => null);
$run('fails', fn () => false);
$run('throws', fn () => throw new LogicException());
$run('is released', fn () => throw new Release('1h'));
$run('is buried', fn () => throw new Bury());
$run('takes too long', function () { while (true); }, timeout: 0.05);
$run('is lost', fn (Job $job) => queue()->cancel('job'));
$run('was lost and the handler knows', function (Job $job) { queue()->cancel('job'); try { $job->touch(); } catch (DelayQueue\LeaseLostException) {} });
$run('settles itself', fn (Job $job) => $job->bury());
echo "fails for the last time\n";
$queue->push(1, id: 'job', maxAttempts: 1);
$queue->consume(function () { usleep(15_000); throw new LogicException(); }, maxJobs: 1);
$queue->purge();
echo "is idle\n";
$queue->on(Event::Idle, fn () => $queue->stop());
$queue->consume(fn () => null, idleTimeout: 0.02, maxTime: 20);
echo "drain\n";
$queue->drain(fn () => null);
?>
--EXPECT--
succeeds
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  Succeeded "job" null settled after some time
  WorkerStopping null null
fails
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  Failed "job" null settled after some time
  WorkerStopping null null
throws
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  Failed "job" LogicException settled after some time
  WorkerStopping null null
is released
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  Released "job" DelayQueue\Release settled after some time
  WorkerStopping null null
is buried
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  Buried "job" DelayQueue\Bury settled after some time
  WorkerStopping null null
takes too long
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  TimedOut "job" DelayQueue\TimeoutException after some time
  Failed "job" DelayQueue\TimeoutException settled after some time
  WorkerStopping null null
is lost
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  Succeeded "job" null settled after some time
  LeaseLost "job" null settled
  WorkerStopping null null
was lost and the handler knows
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  LeaseLost "job" null lost after some time
  WorkerStopping null null
settles itself
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  WorkerStopping null null
fails for the last time
  WorkerStarting null null
  WorkerReady null null
  Processing "job" null
  Failed "job" LogicException settled after some time
  Buried "job" LogicException settled after some time
  WorkerStopping null null
is idle
  WorkerStarting null null
  WorkerReady null null
  Idle null null
  WorkerStopping null null
drain
  WorkerStarting null null
  WorkerReady null null
  WorkerStopping null null
