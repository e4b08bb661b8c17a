<?php

/**
 * A handler of lists that does what the payload of each job says under "do", and writes into the file HANDLER_LOG:
 * "begin ID PROCESS", "end ID PROCESS". wait: until the test lets the job go.
 */

declare(strict_types=1);

use DelayQueue\JobInterface;

return static function (array $jobs): void {
    $log = (string) getenv('HANDLER_LOG');
    $write = static function (string $what, string $id) use ($log): void {
        file_put_contents($log, "$what $id " . getmypid() . "\n", FILE_APPEND | LOCK_EX);
    };
    $do = static function (JobInterface $job) use ($log): void {
        match ($job->payload['do'] ?? 'nothing') {
            'nothing' => null,
            'wait' => (static function () use ($log, $job): void {
                while (!is_file("$log.go.$job->id")) {
                    usleep(5_000);
                }
            })(),
            'sleep' => (static function (): void {
                while (true) {
                    usleep(10_000);
                }
            })(),
            'ack' => $job->ack(),
            'fail' => $job->fail('not now'),
            'bury' => $job->bury('never'),
            'release' => $job->release('1h'),
            'throw' => throw new RuntimeException('not now'),
            'kill' => posix_kill((int) getmypid(), SIGKILL),
            'exit' => exit(7),
        };
    };
    foreach ($jobs as $job) {
        $write('begin', $job->id);
    }
    foreach ($jobs as $job) {
        $do($job);
        $write('end', $job->id);
    }
};
