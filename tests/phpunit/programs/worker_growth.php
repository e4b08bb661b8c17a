<?php

/**
 * Works off jobs in one loop, and says what the process holds after a fifth of them, after three fifths and after all: PHP's heap and
 * the process' memory in bytes, its open files and threads.
 *
 *     worker_growth.php DSN QUEUE plain|events|trouble JOBS PREFETCH
 */

declare(strict_types=1);

use DelayQueue\Backoff;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\Release;

[, $dsn, $name, $kind, $jobs, $prefetch] = $argv;
$jobs = (int) $jobs;
$options = ['readTimeout' => 20, 'backoff' => Backoff::fixed('1h'), 'ttr' => 10];
$queue = new DelayQueue($name, $dsn, $options);
for ($pushed = 0; $pushed < $jobs; $pushed += 500) {
    $queue->pushMany(array_fill(0, 500, ['payload' => ['some' => ['payload', 1.5, null]]]));
}
$holds = static function (): array {
    gc_collect_cycles();

    return [
        'heap' => memory_get_usage(),
        'process' => (int) explode(' ', file_get_contents('/proc/self/statm'))[1] * 4096,
        'files' => count(scandir('/proc/self/fd')),
        'threads' => count(scandir('/proc/self/task')),
    ];
};
if ($kind !== 'plain') {
    foreach (Event::cases() as $event) {
        $queue->on($event, static fn (Event $event, ?Job $job, ?Throwable $error) => [$job?->id, $error?->getMessage()]);
    }
}
$done = 0;
$held = [];
$handler = static function (Job $job, DelayQueue $queue) use ($kind, $jobs, $holds, &$done, &$held): mixed {
    if (++$done === intdiv($jobs, 5) || $done === 3 * intdiv($jobs, 5)) {
        $held[] = $holds();
    }
    if ($kind !== 'trouble') {
        return $job->payload;
    }
    switch ($done % 100) {
        case 1:
            while (true) { // until its time limit
            }
        case 2:
            throw new Release('1h');
        case 3:
            $queue->cancel($job->id);

            return null;
        case 4:
            $cycle = new stdClass();
            $cycle->self = [$cycle, $job, $queue];

            return $cycle;
        case 5:
            return (new Fiber(static fn () => Fiber::suspend($job)))->start();
        case 6:
            $queue->push(1, '1h', id: 'nested', onDuplicate: DelayQueue\OnDuplicate::Replace);

            return $job->ack();
        default:
            throw new RuntimeException("trouble $done");
    }
};
$queue->consume($handler, maxJobs: $jobs, prefetch: (int) $prefetch, timeout: $kind === 'trouble' ? '5ms' : 0);
echo json_encode([...$held, $holds()]), "\n";
