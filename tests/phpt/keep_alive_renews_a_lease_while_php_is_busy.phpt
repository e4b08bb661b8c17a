--TEST--
keepAlive(): the lease is renewed while PHP is busy, until the job is settled, the object is gone, or the limit is over
--FILE--
<?php
require __DIR__ . '/helpers.inc';
require __DIR__ . '/../phpunit/support/Machine.php';
use DelayQueue\Tests\Support\Machine;
use DelayQueue\{Job, State};
Machine::watch();
$queue = queue();
$until = function (callable $condition): bool {
    for ($began = microtime(true); !$condition() && Machine::lasted($began) < 10; usleep(10_000));
    return $condition();
};
$threads = fn (): int => count(scandir('/proc/self/task')) - 2;
$base = $threads();
$take = function (string $id) use ($queue): Job {
    $queue->push(1, id: $id, ttr: 1);
    return $queue->reserveJob($id);
};

echo "-- while PHP sleeps\n";
$job = $take('busy');
$job->keepAlive();
echo 'threads: ', $threads() - $base, "\n";
// One call into the system, in which no code of PHP's runs.
time_nanosleep(2, 300_000_000);
var_dump($queue->peek('busy')->state, $queue->peek('busy')->timeouts, $job->timeLeft() > 0, $job->isLost());
$job->ack();
var_dump($job->isSettled(), $queue->peek('busy'));

echo "-- until the object is gone\n";
$job = $take('dropped');
$job->keepAlive();
unset($job);
var_dump($until(fn () => $queue->count(State::Ready) === 1));
var_dump($queue->reserve()->lastError);
$queue->purge();

echo "-- until the limit is over, and a new one\n";
$job = $take('limited');
$job->keepAlive('100ms');
var_dump($until(fn () => $queue->count(State::Ready) === 1), $job->timeLeft());
$queue->purge();
$job = $take('again');
$job->keepAlive(0.01);
usleep(100_000);
$job->keepAlive();
usleep(1_800_000);
var_dump($queue->peek('again')->state);
$job->touch(100);
$job->keepAlive();
usleep(500_000);
var_dump($job->timeLeft() > 90);
$job->ack();

echo "-- until it is lost\n";
$job = $take('cancelled');
$job->keepAlive();
$queue->cancel('cancelled');
var_dump($until($job->isLost(...)));
caught(fn () => $job->keepAlive());

echo "-- in a loop\n";
$queue->push(1, ttr: 1);
$queue->consume(function (Job $job) use ($queue) {
    $job->keepAlive();
    usleep(1_700_000);
    echo $queue->peek($job->id)->state->value, ' ', $queue->peek($job->id)->timeouts, "\n";
}, stopWhenEmpty: true, heartbeat: false);
$queue->push(1, ttr: 0.3, id: 'looped', maxAttempts: 1);
$queue->consume(function (Job $job) use ($queue, $until) {
    $job->keepAlive(0.1);
    $until(fn () => $queue->count(State::Buried) === 1);
    echo $queue->peek($job->id)->state->value, "\n";
}, stopWhenEmpty: true);

echo "-- arguments\n";
$job = $take('last');
foreach ([0, -1, 'soon', [], NAN] as $atMost) {
    caught(fn () => $job->keepAlive($atMost));
}
?>
--EXPECT--
-- while PHP sleeps
threads: 1
enum(DelayQueue\State::Reserved)
int(0)
bool(true)
bool(false)
bool(true)
NULL
-- until the object is gone
bool(true)
string(13) "lease expired"
-- until the limit is over, and a new one
bool(true)
float(0)
enum(DelayQueue\State::Reserved)
bool(true)
-- until it is lost
bool(true)
DelayQueue\LeaseLostException: the lease of job 'cancelled' in queue 'keep_alive_renews_a_lease_while_php_is_busy' is lost: it was cancelled or taken over
-- in a loop
reserved 0
buried
-- arguments
DelayQueue\InvalidArgument: DelayQueue\Job::keepAlive(): Argument #1 ($atMost) must be greater than 0
DelayQueue\InvalidArgument: DelayQueue\Job::keepAlive(): Argument #1 ($atMost) must be greater than or equal to 0
DelayQueue\InvalidArgument: DelayQueue\Job::keepAlive(): Argument #1 ($atMost) must be a number of seconds or a duration such as "500ms", "15m", "2h30m", "1d" or "PT15M"
TypeError: DelayQueue\Job::keepAlive(): Argument #1 ($atMost) must be of type DateInterval|string|int|float|null, array given
DelayQueue\InvalidArgument: DelayQueue\Job::keepAlive(): Argument #1 ($atMost) must be finite
