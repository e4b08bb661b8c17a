<?php

/**
 * A signal handler forks in the middle of a waiting reserve(). The child uses the queue, the parent waits on.
 *
 *     fork_while_waiting.php DSN QUEUE
 */

declare(strict_types=1);

pcntl_async_signals(true);
$queue = new DelayQueue($argv[2], $argv[1]);
$forked = 0;
pcntl_signal(SIGALRM, static function () use ($queue, &$forked, $argv): void {
    $forked = pcntl_fork();
    if ($forked === 0) {
        $own = new DelayQueue("$argv[2]-child", $argv[1]);
        $own->push('child');
        echo 'child got ', $own->reserve()->payload, "\n";
        $queue->push('parent');
        exit(0);
    }
});
pcntl_alarm(1);
$job = $queue->reserve(10);
pcntl_waitpid($forked, $status);
echo 'parent got ', $job?->payload, "\n";
$job?->ack();
exit($status);
