--TEST--
pcntl_async_signals(true): handlers run at once, the wait goes on, exceptions end it
--FILE--
<?php
require __DIR__ . '/helpers.inc';
pcntl_async_signals(true);
$queue = queue();
$after = function (float $seconds, callable $do): int {
    $child = pcntl_fork();
    if ($child === 0) {
        usleep((int) ($seconds * 1e6));
        $do();
        posix_kill(getmypid(), SIGKILL);
    }
    return $child;
};
$parent = getmypid();
$start = hrtime(true);
$elapsed = function () use (&$start): float { return (hrtime(true) - $start) / 1e9; };

echo "-- a handler that returns\n";
pcntl_signal(SIGUSR1, function () use ($elapsed) { echo 'handler ', $elapsed() < 0.5 ? 'at once' : 'late', "\n"; });
$after(0.2, fn() => posix_kill($parent, SIGUSR1));
var_dump($queue->reserve(0.7), $elapsed() >= 0.7);

echo "-- a handler that throws\n";
pcntl_signal(SIGUSR1, function () { throw new RuntimeException('from the handler'); });
$start = hrtime(true);
$after(0.2, fn() => posix_kill($parent, SIGUSR1));
caught(fn() => $queue->reserve(5));
var_dump($elapsed() < 3);

echo "-- a handler that uses the queue\n";
pcntl_signal(SIGUSR1, function () use ($queue) { $queue->push('from the handler'); });
$after(0.2, fn() => posix_kill($parent, SIGUSR1));
$start = hrtime(true);
$job = $queue->reserve(5);
var_dump($job->payload, $elapsed() < 3);
$job->ack();

echo "-- a handler that stops\n";
pcntl_signal(SIGUSR1, fn() => $queue->stop());
$after(0.2, fn() => posix_kill($parent, SIGUSR1));
$start = hrtime(true);
var_dump($queue->reserve(null), $elapsed() < 3);
$start = hrtime(true);
var_dump($queue->reserve(0.2), $elapsed() >= 0.2);

echo "-- a handler that exits\n";
register_shutdown_function(function () use ($parent) { if (getmypid() === $parent) echo "shutdown\n"; });
pcntl_signal(SIGUSR1, function () { echo "leaving\n"; exit(7); });
$after(0.2, fn() => posix_kill($parent, SIGUSR1));
try {
    $queue->reserve(5);
    echo "not reached\n";
} finally {
    echo "not reached either\n";
}
?>
--EXPECT--
-- a handler that returns
handler at once
NULL
bool(true)
-- a handler that throws
RuntimeException: from the handler
bool(true)
-- a handler that uses the queue
string(16) "from the handler"
bool(true)
-- a handler that stops
NULL
bool(true)
NULL
bool(true)
-- a handler that exits
leaving
shutdown
