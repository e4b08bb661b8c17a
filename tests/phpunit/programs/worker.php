<?php

/**
 * A worker whose jobs say what to do: ['do' => a name in deeds.php, …]. Says what happens, line by line: 'ready', 'started
 * ID ATTEMPT', what the job has to say, 'ended ID', 'event NAME ID ERROR', 'stopped REASON', 'returned at
 * NANOSECONDS' of hrtime().
 *
 *     worker.php DSN QUEUES OPTIONS [EVENTS]
 *
 * QUEUES and EVENTS are separated by commas, 'all' are all events. OPTIONS is JSON: arguments of consume(); 'queue' are
 * options of DelayQueue, 'forkOnAlarm' makes a SIGALRM fork.
 */

declare(strict_types=1);

use DelayQueue\Event;
use DelayQueue\Job;

[, $dsn, $queues, $options] = $argv;
$queues = explode(',', $queues);
$options = json_decode($options, true);
$deeds = require __DIR__ . '/deeds.php';
$queue = (new DelayQueue($queues[0], $dsn, ($options['queue'] ?? []) + ['readTimeout' => 10]))->watch(...$queues);
if ($options['forkOnAlarm'] ?? false) {
    pcntl_async_signals(true);
    pcntl_signal(SIGALRM, static fn () => print(pcntl_fork() > 0 ? "forked\n" : ''));
}
unset($options['queue'], $options['forkOnAlarm']);

$events = $argv[4] ?? '';
foreach (Event::cases() as $event) {
    if ($events === 'all' || in_array($event->name, explode(',', $events), true)) {
        $queue->on($event, static function (Event $event, ?Job $job, ?Throwable $error): void {
            echo trim(sprintf('event %s %s %s', $event->name, $job?->id, $error === null ? '' : $error::class)), "\n";
        });
    }
}
echo "ready\n";
$reason = $queue->consume(static function (Job $job, DelayQueue $queue) use ($deeds): mixed {
    echo "started $job->id $job->attempts\n";
    try {
        return isset($job->payload['do']) ? $deeds[$job->payload['do']]($job, $queue) : null;
    } finally {
        echo "ended $job->id\n";
    }
}, ...$options);
$returned = hrtime(true);
echo "stopped $reason->name\n";
echo "returned at $returned\n";
