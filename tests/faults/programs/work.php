<?php

/**
 * Works until SIGTERM, and says in the log what it does: "run ID ATTEMPT LATE", where LATE is the time since the job fell due in microseconds,
 * of a group's job "start ID GROUP PID" and, when its handler ends, "end ID";
 * then "done ID" (acknowledged), "fail ID", "lost ID" (the lease) or "unsure ID" (whether it is acknowledged); "early ID" for a job that
 * came before its moment.
 *
 *     work.php DSN QUEUE LOG OPTIONS
 *
 * OPTIONS is JSON: 'queue' are options of DelayQueue, 'loop' whether to use consume() with so many jobs a trip, or 0 for reserve() and ack();
 * 'longest' is the time that a job takes at most, in microseconds.
 */

declare(strict_types=1);

use DelayQueue\ConnectionException;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\LeaseLostException;
use DelayQueue\ServerException;

[, $dsn, $name, $log, $options] = $argv;
$options = json_decode($options, true) + ['queue' => [], 'loop' => 1, 'longest' => 2_000];
$queue = new DelayQueue($name, $dsn, $options['queue']);
$file = fopen($log, 'a');
$say = static fn (string $line) => fwrite($file, "$line\n");
$run = static function (Job $job) use ($say, $options): void {
    $late = (int) round(($job->reservedAt - $job->dueAt) * 1e6);
    $say("run $job->id $job->attempts $late");
    // Redis and this process have the same clock here. It is read as a number of seconds, which is exact to a quarter of a microsecond.
    if (microtime(true) < $job->payload['notBefore'] - 1e-6) {
        $say("early $job->id");
    }
    $job->group === null || $say("start $job->id $job->group " . getmypid());
    usleep(random_int(0, $options['longest']));
    $job->group === null || $say("end $job->id");
    if ($job->payload['fail'] && $job->attempts === 1) {
        throw new RuntimeException('once more');
    }
};
echo "ready\n";
if ($options['loop'] > 0) {
    $queue->on(Event::Succeeded, static fn (Event $event, Job $job) => $say("done $job->id"));
    $queue->on(Event::Failed, static fn (Event $event, Job $job) => $say("fail $job->id"));
    $queue->on(Event::LeaseLost, static fn (Event $event, Job $job) => $say("lost $job->id"));
    $queue->consume($run, prefetch: $options['loop']);
    exit(0);
}

$ending = false;
pcntl_async_signals(true);
pcntl_signal(SIGTERM, static function () use (&$ending): void {
    $ending = true;
});
while (!$ending) {
    try {
        $job = $queue->reserve(1);
        if ($job === null) {
            continue;
        }
        try {
            $run($job);
            $job->ack();
            $say("done $job->id");
        } catch (LeaseLostException) {
            $say("lost $job->id");
        } catch (ConnectionException | ServerException $e) {
            $say("unsure $job->id");
        } catch (RuntimeException $e) {
            $say("fail $job->id");
            $job->fail($e);
        }
    } catch (ConnectionException | ServerException | LeaseLostException $e) {
        $say('error ' . strtr(substr($e->getMessage(), 0, 300), "\n", ' '));
        usleep(10_000);
    }
}
