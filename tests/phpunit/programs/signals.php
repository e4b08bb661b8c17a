<?php

/**
 * Waits for a job with signal handlers in place, and says what happened.
 *
 *     signals.php DSN QUEUE async|sync REACTION [TIMEOUT]
 *
 * Handled are SIGTERM, SIGALRM and SIGUSR1. Reactions: count · stop · throw · exit · push (to the same queue) ·
 * close (its connection) · default (no handlers) · ignore. Without a TIMEOUT it waits for ever.
 */

declare(strict_types=1);

[, $dsn, $name, $mode, $reaction] = $argv;
$queue = new DelayQueue($name, $dsn, ['readTimeout' => 10]);
$handled = 0;
pcntl_async_signals($mode === 'async');
if ($reaction !== 'default') {
    $handler = $reaction === 'ignore' ? SIG_IGN : static function (int $signal) use ($queue, $reaction, &$handled): void {
        $handled++;
        match ($reaction) {
            'count' => null,
            'stop' => $queue->stop(),
            'throw' => throw new RuntimeException("signal $signal"),
            'exit' => exit(3),
            'push' => $queue->push("pushed by handler $handled"),
            'close' => $queue->close(),
        };
    };
    foreach ([SIGTERM, SIGALRM, SIGUSR1] as $signal) {
        pcntl_signal($signal, $handler);
    }
}
register_shutdown_function(static function (): void {
    echo "shut down\n";
});
echo "ready\n";
while (($line = fgets(STDIN)) !== false || !feof(STDIN)) {
    if (trim((string) $line) !== 'reserve') {
        continue; // a signal broke the reading off
    }
    $started = microtime(true);
    try {
        $job = $queue->reserve(isset($argv[5]) ? (float) $argv[5] : null);
        $job?->ack();
        $outcome = $job === null ? 'nothing' : "job $job->payload";
    } catch (Throwable $e) {
        $outcome = $e::class . ' ' . $e->getMessage();
    }
    printf("%s; %d handled; %.3f\n", $outcome, $handled, microtime(true) - $started);
}
