<?php

/**
 * Calls everything while the extension panics in one place after the other, and says how often it did and whether the next call worked.
 *
 *     panic.php DSN QUEUE NUMBER-FILE
 */

declare(strict_types=1);

use DelayQueue\Job;
use DelayQueue\State;

[, $dsn, $name, $number] = $argv;
$file = fopen($number, 'c+');
$set = static function (int $to) use ($file): void {
    fseek($file, 0);
    fwrite($file, pack('q', $to));
    fflush($file);
};
$left = static function () use ($file): int {
    fseek($file, 0);

    return unpack('q', fread($file, 8))[1];
};
$queue = new DelayQueue($name, $dsn, ['readTimeout' => 5, 'ttr' => 60]);
$take = static fn () => $queue->reserveJob($queue->push('for a job'));
$calls = [
    'push' => [null, static fn () => $queue->push('x')],
    'pushMany' => [null, static fn () => $queue->pushMany([['payload' => 1], ['payload' => 2, 'priority' => 3]])],
    'reserve' => [static fn () => $queue->push('x'), static fn () => $queue->reserve()],
    'a reserve that waits' => [static fn () => $queue->purge(), static fn () => $queue->reserve(0.05)],
    'ack' => [$take, static fn (Job $job) => $job->ack()],
    'fail' => [$take, static fn (Job $job) => $job->fail('why')],
    'touch' => [$take, static fn (Job $job) => $job->touch()],
    'keepAlive' => [$take, static fn (Job $job) => $job->keepAlive(10)],
    'timeLeft' => [$take, static fn (Job $job) => $job->timeLeft()],
    'cancel' => [null, static fn () => $queue->cancel('a', 'b')],
    'stats' => [null, static fn () => $queue->stats()],
    'list' => [null, static fn () => $queue->list(State::Ready)],
    'doctor' => [null, static fn () => $queue->doctor(true)],
    'queues' => [null, static fn () => $queue->queues()],
    'connecting' => [static fn () => $queue->close(), static fn () => $queue->count()],
    'consume' => [
        static function () use ($queue): void {
            $queue->purge();
            $queue->pushMany([['payload' => 1], ['payload' => 2]]);
        },
        static fn () => $queue->consume(static fn () => usleep(1_000), maxJobs: 2, maxTime: 0.3, timeout: 5),
    ],
];
foreach ($calls as $what => [$arrange, $call]) {
    $panics = 0;
    for ($n = 1; $n < 200; $n++) {
        $given = $arrange === null ? null : $arrange();
        $set($n);
        try {
            $call($given);
        } catch (Error $e) {
            $panics++;
            if (!str_contains($e->getMessage(), 'internal check')) {
                echo "wrong: $what: {$e->getMessage()}\n";
            }
        } catch (DelayQueue\Exception) {
            // A thread of the extension panicked, and its answer is missing.
        }
        $over = $left() > 0;
        $set(0);
        $given = null;
        $id = $queue->push("after $what");
        if ($queue->reserveJob($id)?->payload !== "after $what") {
            echo "wrong: the call after $what\n";
        }
        if ($over) {
            break;
        }
    }
    echo "panics $panics in $what\n";
}
echo "alive\n";
