--TEST--
cancel() of a running job reaches its handler within a second: isLost(), Event::Cancelled and, if wanted, an exception
--FILE--
<?php
require __DIR__ . '/helpers.inc';
require __DIR__ . '/../phpunit/support/Machine.php';
use DelayQueue\Tests\Support\Machine;
use DelayQueue\{CancelledException, Event, Job, LeaseLostException};
Machine::watch();
$queue = queue();
$other = queue(['persistent' => false]);
$log = [];
foreach ([Event::Cancelled, Event::LeaseLost, Event::Failed, Event::Succeeded] as $event) {
    $queue->on($event, function (Event $event, ?Job $job, ?Throwable $error, ?float $seconds) use (&$log) {
        // In the middle of the handler: so far.
        if ($event === Event::Cancelled && ($seconds === null || $job->id === 'later' && $seconds < 0.8)) { echo 'after ', var_export($seconds, true), "\n"; }
        $log[] = "{$event->name} {$job->id} " . ($job->isLost() ? 'lost' : 'ours');
    });
}
$run = function (string $id, callable $handler, bool ...$options) use ($queue, &$log): void {
    $log = [];
    $queue->push(1, id: $id);
    $queue->consume($handler, ...$options, maxJobs: 1);
    echo "$id: ", implode(', ', $log), "\n";
};
/** Cancels the job when it has run for so long, then waits until the handler's side knows. */
$cancel = function (Job $job, float $after) use ($other): float {
    usleep((int) ($after * 1e6));
    $other->cancel($job->id);
    $cancelled = microtime(true);
    while (!$job->isLost() && microtime(true) < $cancelled + 20) {
        usleep(5_000);
    }
    return Machine::lasted($cancelled);
};
$soon = function (float $took): void { echo $took < 1.0 ? 'within a second' : "after $took s", "\n"; };
$run('at-once', function (Job $job) use ($cancel, $soon, &$log) { $soon($cancel($job, 0)); echo count($log), " told\n"; });
$run('later', function (Job $job) use ($cancel, $soon, &$log) { $soon($cancel($job, 0.8)); echo count($log), " told\n"; });
$run('throw', function (Job $job) use ($other) {
    $other->cancel($job->id);
    $began = microtime(true);
    try {
        while (true) { usleep(20_000_000); } // a system call is ended
    } catch (CancelledException $e) {
        echo get_debug_type($e), ': ', $e->getMessage(), ', ', $e instanceof LeaseLostException ? 'a lost lease' : '', "\n";
        echo Machine::lasted($began) < 2 ? 'soon' : 'late', "\n";
        throw $e;
    }
}, throwOnCancel: true);
// A handler that ends before it hears, and others that are not cancelled.
$run('quick', fn(Job $job) => $other->cancel($job->id));
$run('not', fn(Job $job) => usleep(700_000), throwOnCancel: true);
$run('purged', function (Job $job) use ($other) { $other->purge(); usleep(1_500_000); });
// Outside of consume().
$queue->push(1, id: 'kept');
$job = $queue->reserve();
$job->keepAlive();
$soon($cancel($job, 0.6));
caught(fn() => $job->ack());
?>
--EXPECT--
within a second
1 told
at-once: Cancelled at-once lost, LeaseLost at-once lost
within a second
1 told
later: Cancelled later lost, LeaseLost later lost
DelayQueue\CancelledException: job 'throw' was cancelled, a lost lease
soon
throw: Cancelled throw lost, LeaseLost throw lost
quick: Succeeded quick ours, LeaseLost quick ours
not: Succeeded not ours
purged: Cancelled purged lost, LeaseLost purged lost
within a second
DelayQueue\LeaseLostException: the lease of job 'kept' in queue 'a_cancelled_job_reaches_its_handler' is lost: it was cancelled or taken over
