--TEST--
The thread that keeps leases and acknowledges, and lists a loop that waits, starts when it is needed, and ends with its loop
--FILE--
<?php
require __DIR__ . '/helpers.inc';
require __DIR__ . '/../phpunit/support/Machine.php';
use DelayQueue\Tests\Support\Machine;
Machine::watch();
$threads = fn (): int => count(scandir('/proc/self/task')) - 2;
$until = function (callable $condition): bool {
    for ($began = microtime(true); !$condition() && Machine::lasted($began) < 5; usleep(1000));
    return $condition();
};
$queue = queue();
$base = $threads();
echo 'before: ', $base, "\n";
$queue->consume(fn () => null, stopWhenEmpty: true);
echo 'after an empty queue: ', $threads(), "\n";
$queue->on(DelayQueue\Event::Idle, function () use ($queue, $threads) {
    echo 'idle: ', $threads(), "\n";
    $queue->stop();
});
$queue->consume(fn () => null, idleTimeout: 0.02, maxTime: 20);
$until(fn () => $threads() === $base);
$queue->pushMany(array_fill(0, 3, ['payload' => 1]));
$queue->consume(fn () => print('in the handler: ' . $threads() . "\n"), stopWhenEmpty: true);
echo 'after: ', $until(fn () => $threads() === $base) ? 'as before' : $threads(), "\n";
$queue->push(1);
$queue->consume(fn () => print('without heartbeat: ' . $threads() . "\n"), stopWhenEmpty: true, heartbeat: false);
$until(fn () => $threads() === $base);
$queue->push(1);
$queue->consume(function () use ($queue, $threads) {
    $queue->push(2);
    $queue->drain(fn () => print('two loops: ' . $threads() . "\n"));
}, maxJobs: 1);
echo 'after: ', $until(fn () => $threads() === $base) ? 'as before' : $threads(), "\n";
for ($n = 0; $n < 50; $n++) {
    $queue->push(1);
    $queue->drain(fn () => null);
}
echo 'after many: ', $until(fn () => $threads() === $base) ? 'as before' : $threads(), "\n";
foreach ([[], ['heartbeat' => false]] as $options) {
    $queue->pushMany(array_fill(0, 200, ['payload' => 1]));
    $most = 0;
    $queue->consume(function () use ($threads, &$most) {
        $most = max($most, $threads());
    }, ...$options + ['stopWhenEmpty' => true, 'prefetch' => 5]);
    echo json_encode($options), ': ', $most, "\n";
    echo 'after: ', $until(fn () => $threads() === $base) ? 'as before' : $threads(), "\n";
}
?>
--EXPECT--
before: 1
after an empty queue: 1
idle: 2
in the handler: 2
in the handler: 2
in the handler: 2
after: as before
without heartbeat: 1
two loops: 3
after: as before
after many: as before
[]: 2
after: as before
{"heartbeat":false}: 2
after: as before
