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
        echo ', ', rtrim(($event === $case ? $event->name : 'wrong') . " $job?->id " . ($error === null ? '' : get_class($error)));
        echo count($arguments) === 4 ? '' : ' wrong count', $job?->isSettled() ? ' settled' : '', $job?->isLost() ? ' lost' : '';
        echo $seconds === null ? '' : ($seconds >= 0.01 && $seconds < 5 ? ' after some time' : ' after ' . var_export($seconds, true));
    });
}
$run = function (string $what, callable $handler, mixed ...$options) use ($queue) {
    echo "\n$what";
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
echo "\nfails for the last time";
$queue->push(1, id: 'job', maxAttempts: 1);
$queue->consume(function () { usleep(15_000); throw new LogicException(); }, maxJobs: 1);
$queue->purge();
echo "\nis idle";
$queue->on(Event::Idle, fn () => $queue->stop());
$queue->consume(fn () => null, idleTimeout: 0.02, maxTime: 20);
echo "\ndrain";
$queue->drain(fn () => null);
?>
--EXPECT--
succeeds, WorkerStarting, WorkerReady, Processing job, Succeeded job settled after some time, WorkerStopping
fails, WorkerStarting, WorkerReady, Processing job, Succeeded job settled after some time, WorkerStopping
throws, WorkerStarting, WorkerReady, Processing job, Failed job LogicException settled after some time, WorkerStopping
is released, WorkerStarting, WorkerReady, Processing job, Released job DelayQueue\Release settled after some time, WorkerStopping
is buried, WorkerStarting, WorkerReady, Processing job, Buried job DelayQueue\Bury settled after some time, WorkerStopping
takes too long, WorkerStarting, WorkerReady, Processing job, TimedOut job DelayQueue\TimeoutException after some time, Failed job DelayQueue\TimeoutException settled after some time, WorkerStopping
is lost, WorkerStarting, WorkerReady, Processing job, Succeeded job settled after some time, LeaseLost job settled, WorkerStopping
was lost and the handler knows, WorkerStarting, WorkerReady, Processing job, LeaseLost job lost after some time, WorkerStopping
settles itself, WorkerStarting, WorkerReady, Processing job, WorkerStopping
fails for the last time, WorkerStarting, WorkerReady, Processing job, Failed job LogicException settled after some time, Buried job LogicException settled after some time, WorkerStopping
is idle, WorkerStarting, WorkerReady, Idle, WorkerStopping
drain, WorkerStarting, WorkerReady, WorkerStopping
