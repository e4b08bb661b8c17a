--TEST--
reserve() sets unreadable jobs aside for no longer than its readTimeout, then throws and never says that nothing is there; signals and stop() end it
--FILE--
<?php
require __DIR__ . '/helpers.inc';
const MANY = 5000;
$raw = queue(['format' => 'raw']);
$raw->pushMany(array_fill(0, MANY, ['payload' => 'not json']));
$raw->push('"good"', priority: 2000);

// Long enough for any single request on a busy machine, short for thousands.
$queue = queue(['readTimeout' => 0.2]);
$thrown = 0;
do {
    try {
        $job = $queue->reserve();
    } catch (DelayQueue\ConnectionException $e) {
        $job = null;
        $thrown += (int) str_contains($e->getMessage(), 'try again');
    }
} while ($job === null && $thrown < MANY && count($raw) > $raw->count(DelayQueue\State::Buried));
var_dump($job?->payload, $thrown > 0, $raw->count(DelayQueue\State::Buried) === MANY);
$job->ack();
var_dump($queue->reserve());

$raw->purge();
$raw->pushMany(array_fill(0, MANY, ['payload' => 'not json']));
// The signal is there already; its handler runs as soon as the wait looks.
pcntl_async_signals(false);
pcntl_signal(SIGUSR1, fn () => throw new RuntimeException('signal'));
posix_kill(getmypid(), SIGUSR1);
caught(fn () => queue()->reserve(timeout: null));
var_dump($raw->count(DelayQueue\State::Ready) === MANY - 1);
pcntl_signal(SIGUSR1, fn () => $queue->stop());
posix_kill(getmypid(), SIGUSR1);
var_dump($queue->reserve(timeout: null), $raw->count(DelayQueue\State::Ready) === MANY - 2);
$raw->purge();
?>
--EXPECT--
string(4) "good"
bool(true)
bool(true)
NULL
RuntimeException: signal
bool(true)
NULL
bool(true)
