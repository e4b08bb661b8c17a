<?php

/**
 * A Chunk whose handler does what the payload of each of its jobs says under "do", and writes into the file HANDLER_LOG: "begin ID PROCESS", "end ID PROCESS".
 * wait: until the test lets the job go.
 */

declare(strict_types=1);

use DelayQueue\Bury;
use DelayQueue\Release;
use DelayQueue\Worker\Chunk;

return Chunk::of(10, within: 0, handler: static function (array $jobs): array {
    $log = (string) getenv('HANDLER_LOG');
    $write = static fn (string $what, string $id) => file_put_contents($log, "$what $id " . getmypid() . "\n", FILE_APPEND | LOCK_EX);
    $answers = [];
    foreach ($jobs as $job) {
        $write('begin', $job->id);
    }
    foreach ($jobs as $job) {
        $wait = static function () use ($log, $job): void {
            while (!is_file("$log.go.$job->id")) {
                usleep(5_000);
            }
        };
        $answers[$job->id] = match ($job->payload['do'] ?? 'nothing') {
            'nothing' => true,
            'wait' => $wait(),
            'fail' => new RuntimeException('not now'),
            'bury' => new Bury('never'),
            'release' => new Release('1h', 'later'),
            'ack' => $job->ack(),
            'sleep' => (static function (): void {
            while (true) {
                usleep(10_000);
            }
        })(),
            'exit' => exit(7),
        };
        $write('end', $job->id);
    }

    return $answers;
});
