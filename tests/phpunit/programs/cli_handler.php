<?php

/**
 * A handler that does what the payload says under "do", and writes into the file HANDLER_LOG: "begin ID PROCESS", "end ID PROCESS".
 * wait: until the test lets the job go.
 */

declare(strict_types=1);

use DelayQueue\Bury;
use DelayQueue\Job;
use DelayQueue\Release;

return static function (Job $job, DelayQueue $queue): void {
    $log = (string) getenv('HANDLER_LOG');
    $write = static fn (string $what) => file_put_contents($log, "$what $job->id " . getmypid() . "\n", FILE_APPEND | LOCK_EX);
    $write('begin');
    $wait = static function () use ($log, $job): void {
        while (!is_file("$log.go.$job->id")) {
            usleep(5_000);
        }
    };
    match ($job->payload['do'] ?? 'nothing') {
        'nothing' => null,
        'wait' => $wait(),
        'fail' => (static fn (string $argument) => throw new RuntimeException("not\nnow", 0, new LogicException('the cause')))('secret'),
        'bury' => throw new Bury('never'),
        'release' => throw new Release('1h', 'later'),
        'ack' => $job->ack(),
        'stop' => $queue->stop(),
        'sleep' => usleep(60_000_000),
        // In C, without looking at PHP's interrupt flag.
        'stick' => hash_pbkdf2('sha512', 'password', 'salt', 1_000_000_000),
        'kill' => posix_kill(getmypid(), SIGKILL),
        // As a console application does that runs inside a job.
        'take signals' => array_map(
            static fn (int $signal) => pcntl_signal($signal, SIG_DFL),
            [SIGTERM, SIGHUP, SIGUSR1, SIGALRM],
        ),
        'exit' => exit(7),
        'succeed' => exit(0),
        'fatal' => eval('interface Two {} class One implements Two, Two {}'),
    };
    $write('end');
};
