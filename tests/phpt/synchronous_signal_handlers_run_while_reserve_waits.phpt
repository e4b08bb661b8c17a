--TEST--
pcntl_async_signals(false): handlers run while reserve() waits, too
--FILE--
<?php
require __DIR__ . '/helpers.inc';
pcntl_async_signals(false);
$queue = queue();
$parent = getmypid();
$signal = function (float $seconds) use ($parent): void {
    if (pcntl_fork() === 0) {
        usleep((int) ($seconds * 1e6));
        posix_kill($parent, SIGUSR1);
        posix_kill(getmypid(), SIGKILL);
    }
};
$calls = 0;
pcntl_signal(SIGUSR1, function () use (&$calls) { $calls++; });
$signal(0.1);
$start = hrtime(true);
var_dump($queue->reserve(0.4), $calls, hrtime(true) - $start >= 0.4e9);
pcntl_signal(SIGUSR1, function () { throw new RuntimeException('from the handler'); });
$signal(0.1);
caught(fn() => $queue->reserve(5));
pcntl_signal(SIGUSR1, fn() => $queue->stop());
$signal(0.1);
var_dump($queue->reserve(null));
// Without a handler the signal's own action ends the process; ignored ones do nothing.
pcntl_signal(SIGUSR1, SIG_IGN);
$signal(0.1);
var_dump($queue->reserve(0.3));
?>
--EXPECT--
NULL
int(1)
bool(true)
RuntimeException: from the handler
NULL
NULL
