--TEST--
A loop that goes on waiting tells its listeners each idleTimeout that it is idle; they may use the queue, throw, and stop it
--FILE--
<?php
require __DIR__ . '/helpers.inc';
use DelayQueue\Event;

/** Waits, and calls `$deed` the third time that it is idle. */
$wait = function (string $suffix, Closure $deed, mixed ...$options): void {
    $queue = queue(suffix: '.' . strtr($suffix, ' ', '-'));
    $times = 0;
    $queue->on(Event::Idle, function () use (&$times, $queue, $deed) {
        if (++$times === 3) {
            $deed($queue);
        }
    });
    $handler = function ($job) use (&$times): void {
        echo "$job->payload, idle $times times before\n";
    };
    $started = hrtime(true);
    $reason = $queue->consume($handler, ...$options + ['idleTimeout' => 0.05, 'maxTime' => 20]);
    echo "$suffix: $reason->name", (hrtime(true) - $started) / 1e9 < 0.15 ? ', early' : '', "\n";
};
$wait('a push', fn ($queue) => $queue->push('its own job'), maxJobs: 1);
$wait('stop', fn ($queue) => $queue->stop());
$wait('other calls', function ($queue) {
    $queue->push('soon', delay: 0.01);
    usleep(20_000);
    echo count($queue), ' waits, ', $queue->reserve()->release(), "released\n";
}, maxJobs: 1);
$wait('an exception', fn () => throw new LogicException('oh'), maxTime: 0.3);
$hoard = '';
$wait('memory', function () use (&$hoard) { $hoard = str_repeat('x', 64 << 20); }, memoryLimit: '48M');
$hoard = '';
$wait('no memory', fn () => null, maxTime: 0.3, memoryLimit: '48M');
try {
    $wait('a warning that is made an exception', function () {
        set_error_handler(function (int $level, string $message): never { throw new ErrorException($message, 0, $level); });
        throw new LogicException('oh');
    }, maxTime: 0.3);
} finally {
    restore_error_handler();
}
$wait('the end', function () { echo "exits\n"; exit; });
echo 'never';
?>
--EXPECTF--
its own job, idle 3 times before
a push: MaxJobs
stop: Stopped
1 waits, released
soon, idle 3 times before
other calls: MaxJobs

Warning: DelayQueue::consume(): A listener of Event::Idle threw LogicException: oh in %s on line %d
an exception: MaxTime
memory: MemoryLimit
no memory: MaxTime
a warning that is made an exception: MaxTime
exits
