--TEST--
A time limit, a cancellation or a lost lease of a job whose handler runs a loop ends that loop in good order, and is thrown where the loop was called
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\TimeoutException;
function of(string $name, array $options = []): DelayQueue
{
    return queue($options, ".$name");
}
function spin(): void
{
    for ($until = microtime(true) + 20; microtime(true) < $until;) {
        usleep(2000);
    }
}
/** Runs a job whose handler calls `$inner($queue of the inner jobs)`, and says what became of all. */
function outer(string $title, callable $inner, callable $queues, mixed ...$options): void
{
    [$outer, $innerQueue] = $queues();
    $outer->push('outer', id: 'outer', ttr: '30s');
    $told = [];
    $names = [];
    foreach (Event::cases() as $event) {
        $innerQueue->on($event, function (Event $event, ?Job $job, ?Throwable $error) use (&$told) {
            $told[] = trim("$event->name " . $job?->id);
        });
        $outer->on($event, function (Event $event) use (&$names) {
            $names[] = $event->name;
        });
    }
    $thrown = 'nothing';
    $outer->consume(function (Job $job) use ($inner, $innerQueue, &$thrown) {
        try {
            $inner($innerQueue, $job);
        } catch (Throwable $error) {
            $thrown = $error::class . ": {$error->getMessage()}";
            throw $error;
        }
    }, ...$options + ['maxJobs' => 1, 'graceTimeout' => 10]);
    $jobs = [];
    foreach (['a', 'b'] as $id) {
        $job = $innerQueue->peek($id);
        $jobs[] = $job === null ? "$id gone" : "$id {$job->state->name} $job->attempts";
    }
    echo "$title\n  thrown: $thrown\n  inner: ", implode(', ', $jobs), "\n  told: ", implode(', ', array_diff(array_unique($told), ['Idle'])), "\n  outer: ",
        implode(', ', array_diff($names, ['WorkerStarting', 'WorkerReady', 'WorkerStopping', 'Processing', 'Idle'])), "\n";
}
$queues = function (): array {
    $inner = of('inner', ['maxAttempts' => 1]);
    $inner->purge();
    of('outer')->purge();
    $inner->push('a', id: 'a');
    $inner->push('b', id: 'b', delay: 0.001);
    return [of('outer', ['maxAttempts' => 1]), $inner];
};
$limit = ['timeout' => 0.5];

outer('a time limit while an inner handler runs', fn ($q) => $q->drain(fn () => spin()), $queues, ...$limit);
outer('while an inner handler swallows it', fn ($q) => $q->drain(function () {
    try {
        spin();
    } catch (Throwable $e) {
        echo 'inner: ', $e::class, "\n";
    }
}), $queues, ...$limit);
outer('while an inner handler has a limit of its own', fn ($q) => $q->consume(fn () => spin(), timeout: 60), $queues, ...$limit);
outer('while an inner handler fails by its way out', fn ($q) => $q->drain(function () {
    try {
        spin();
    } finally {
        throw new RuntimeException('a way out');
    }
}), $queues, ...$limit);
outer('while an inner loop waits', fn ($q) => [$q->purge(), $q->consume(fn () => null)], $queues, ...$limit);
ob_start();
outer('while an inner loop has many short jobs', fn ($q) => $q->consume(function (Job $job) {
    $job->release(countAttempt: false);
}), $queues, ...$limit);
echo preg_replace('/  told:.*\n/', '', ob_get_clean());
outer('while a listener of an inner loop runs a loop', function ($q) {
    $q->on(Event::Processing, fn () => print('listener: ' . of('middle')->consume(fn () => null)->name . "\n"));
    $q->drain(fn () => spin());
}, $queues, ...$limit);
outer('while a reserve() waits', fn ($q) => [$q->purge(), $q->reserve(20)], $queues, ...$limit);
outer('three deep', fn ($q) => of('middle')->push('m', id: 'm') && of('middle')->drain(fn () => $q->drain(fn () => spin())), $queues, ...$limit);
echo '  middle: ', of('middle')->peek('m')->attempts, ' ', of('middle')->peek('m')->state->name, "\n";
of('middle')->purge();
outer('caught by the outer handler, which goes on', function ($q) {
    try {
        $q->drain(fn () => spin());
    } catch (TimeoutException) {
    }
    $q->drain(fn () => null);
}, $queues, ...$limit);
outer('an inner time limit alone', function ($q) {
    $q->consume(fn (Job $job) => $job->id === 'a' ? spin() : null, stopWhenEmpty: true, timeout: 0.2, maxJobs: 2);
}, $queues, timeout: 60);

$cancel = fn () => of('outer')->cancel('outer');
outer('a cancellation while an inner handler runs', fn ($q) => $q->drain(fn () => [$cancel(), spin()]), $queues, throwOnCancel: true);
outer('while an inner loop waits', fn ($q) => [$q->purge(), $cancel(), $q->consume(fn () => null)], $queues, throwOnCancel: true);
outer('that is only told', function ($q, $job) use ($cancel) {
    $q->drain(function () use ($job, $cancel) {
        $cancel();
        for ($until = microtime(true) + 20; !$job->isLost() && microtime(true) < $until;) {
        }
    }, 1);
}, $queues);

outer('a lost lease that an inner handler meets', function ($q, $job) use ($cancel) {
    $cancel();
    $q->drain(fn () => $job->touch());
}, $queues);
outer('a lost lease of the inner job alone', fn ($q) => $q->drain(fn (Job $job) => [of('inner')->cancel($job->id), $job->touch()]), $queues);

echo "in listeners\n";
[$outer, $inner] = $queues();
$outer->push('outer', id: 'outer');
$outer->on(Event::Processing, function () use ($inner) {
    echo '  drained ', $inner->drain(fn (Job $job) => $job->id === 'a' ? spin() : null), "\n";
});
$inner->push('c', id: 'c', timeout: 0.2);
$inner->cancel('a', 'b');
$inner->push('a', id: 'a', timeout: 0.2, maxAttempts: 1);
$outer->consume(fn () => print("  outer ran\n"), maxJobs: 1, timeout: 10);
echo '  a: ', $inner->peek('a')->lastError, "\n";
?>
--EXPECT--
a time limit while an inner handler runs
  thrown: DelayQueue\TimeoutException: timed out after 0.5 s
  inner: a Ready 0, b Ready 0
  told: WorkerStarting, WorkerReady, Processing a, Released a, WorkerStopping
  outer: TimedOut, Failed, Buried
inner: DelayQueue\ShutdownException
while an inner handler swallows it
  thrown: DelayQueue\TimeoutException: timed out after 0.5 s
  inner: a gone, b Ready 0
  told: WorkerStarting, WorkerReady, Processing a, Succeeded a, WorkerStopping
  outer: TimedOut, Failed, Buried
while an inner handler has a limit of its own
  thrown: DelayQueue\TimeoutException: timed out after 0.5 s
  inner: a Ready 0, b Ready 0
  told: WorkerStarting, WorkerReady, Processing a, Released a, WorkerStopping
  outer: TimedOut, Failed, Buried
while an inner handler fails by its way out
  thrown: DelayQueue\TimeoutException: timed out after 0.5 s
  inner: a Ready 0, b Ready 0
  told: WorkerStarting, WorkerReady, Processing a, Released a, WorkerStopping
  outer: TimedOut, Failed, Buried
while an inner loop waits
  thrown: DelayQueue\TimeoutException: timed out after 0.5 s
  inner: a gone, b gone
  told: WorkerStarting, WorkerReady, WorkerStopping
  outer: TimedOut, Failed, Buried
while an inner loop has many short jobs
  thrown: DelayQueue\TimeoutException: timed out after 0.5 s
  inner: a Ready 0, b Ready 0
  outer: TimedOut, Failed, Buried
listener: Stopped
while a listener of an inner loop runs a loop
  thrown: DelayQueue\TimeoutException: timed out after 0.5 s
  inner: a Ready 0, b Ready 0
  told: WorkerStarting, WorkerReady, Processing a, Released a, WorkerStopping
  outer: TimedOut, Failed, Buried
while a reserve() waits
  thrown: DelayQueue\TimeoutException: timed out after 0.5 s
  inner: a gone, b gone
  told: 
  outer: TimedOut, Failed, Buried
three deep
  thrown: DelayQueue\TimeoutException: timed out after 0.5 s
  inner: a Ready 0, b Ready 0
  told: WorkerStarting, WorkerReady, Processing a, Released a, WorkerStopping
  outer: TimedOut, Failed, Buried
  middle: 0 Ready
caught by the outer handler, which goes on
  thrown: nothing
  inner: a gone, b gone
  told: WorkerStarting, WorkerReady, Processing a, Released a, WorkerStopping, Succeeded a, Processing b, Succeeded b
  outer: Succeeded
an inner time limit alone
  thrown: nothing
  inner: a Buried 1, b gone
  told: WorkerStarting, WorkerReady, Processing a, TimedOut a, Failed a, Buried a, Processing b, Succeeded b, WorkerStopping
  outer: Succeeded
a cancellation while an inner handler runs
  thrown: DelayQueue\CancelledException: job 'outer' was cancelled
  inner: a Ready 0, b Ready 0
  told: WorkerStarting, WorkerReady, Processing a, Released a, WorkerStopping
  outer: Cancelled, LeaseLost
while an inner loop waits
  thrown: DelayQueue\CancelledException: job 'outer' was cancelled
  inner: a gone, b gone
  told: WorkerStarting, WorkerReady, WorkerStopping
  outer: Cancelled, LeaseLost
that is only told
  thrown: nothing
  inner: a gone, b Ready 0
  told: WorkerStarting, WorkerReady, Processing a, Succeeded a, WorkerStopping
  outer: Cancelled, LeaseLost
a lost lease that an inner handler meets
  thrown: DelayQueue\LeaseLostException: the lease of job 'outer' in queue 'what_an_outer_handler_has_to_hear_ends_the_loops_inside_it_first.outer' is lost: its time ran out and it was taken back, or it was cancelled
  inner: a Ready 0, b Ready 0
  told: WorkerStarting, WorkerReady, Processing a, Released a, WorkerStopping
  outer: LeaseLost
a lost lease of the inner job alone
  thrown: nothing
  inner: a gone, b gone
  told: WorkerStarting, WorkerReady, Processing a, LeaseLost a, Processing b, LeaseLost b, WorkerStopping
  outer: Succeeded
in listeners
  drained 2
  outer ran
  a: timed out after 0.2 s
