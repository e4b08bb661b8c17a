<?php

/**
 * A signal to the process ends the loops of all its threads at once. One thread sends it, in a request that began after their loops:
 * when a request begins, PHP takes the signals for itself.
 */

declare(strict_types=1);

use DelayQueue\StopReason;

require __DIR__ . '/support.php';

$loops = THREADS - 1;
$queue = new DelayQueue('signals', dsn(), ['readTimeout' => 20]);
if (THREAD < $loops) {
    if (ROUND > 0) {
        return;
    }
    $reason = $queue->consume(static function (): void {
        complain('there was a job');
    }, idleTimeout: 600);
    expect(StopReason::Signal, $reason, 'why the loop ended');
    $late = microtime(true) - (float) redis()->ask('GET', 'signalled');
    expect(true, $late < 2.0, sprintf('it ended %.3f s after the signal, soon enough', $late));
    redis()->ask('INCR', 'ended');
    return;
}
if (ROUND === 0) {
    until(static fn (): bool => redis()->ask('ZCARD', 'dq:{signals}:waiters') === $loops, 'all loops wait');
    return;
}
redis()->ask('SET', 'signalled', sprintf('%.6f', microtime(true)));
posix_kill(posix_getpid(), SIGTERM);
until(static fn (): bool => (int) redis()->ask('GET', 'ended') === $loops, 'all loops end');

// A loop that begins now is a new one.
$queue->push(1);
expect(StopReason::MaxJobs, $queue->consume(static fn () => true, maxJobs: 1), 'why a later loop ended');
