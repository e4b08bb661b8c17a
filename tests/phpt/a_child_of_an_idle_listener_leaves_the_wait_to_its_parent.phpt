--TEST--
A child that an Idle listener forks does not end the wait of its parent, whom a push wakes at once
--FILE--
<?php
require __DIR__ . '/helpers.inc';
require __DIR__ . '/../phpunit/support/Machine.php';
use DelayQueue\Tests\Support\Machine;
$queue = queue();
$waiters = fn (): int => redis('ZCARD', 'dq:{' . basename(__FILE__, '.php') . '}:waiters');
$queue->on(DelayQueue\Event::Idle, function () use ($queue, $waiters) {
    echo 'before: ', $waiters(), "\n";
    $child = pcntl_fork();
    if ($child === 0) {
        exit(0);
    }
    pcntl_waitpid($child, $status);
    echo 'behind: ', $waiters(), "\n";
    $queue->push('now');
});
Machine::watch();
$started = microtime(true);
// Without the push of the listener, nothing but maxTime would end the loop.
$queue->consume(fn ($job) => print("$job->payload\n"), idleTimeout: 0.05, maxJobs: 1, maxTime: 10);
echo Machine::lasted($started) < 1.2 ? 'at once' : 'found by a glance', "\n";
?>
--EXPECT--
before: 1
behind: 1
now
at once
