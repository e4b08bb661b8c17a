<?php

/** The worker's loop: one job after another until SIGTERM or SIGINT; a job in hand is finished first. */

declare(strict_types=1);

use DelayQueue\Job;
use DelayQueue\LeaseLostException;

/** @param callable(Job): void $handle */
function work(DelayQueue $queue, callable $handle): void
{
    $stopping = false;
    $stop = static function () use ($queue, &$stopping): void {
        $stopping = true;
        $queue->stop();
    };
    pcntl_async_signals(true);
    pcntl_signal(SIGTERM, $stop);
    pcntl_signal(SIGINT, $stop);

    while (!$stopping) {
        $job = $queue->reserve(timeout: 60);
        if ($job === null) {
            continue;
        }
        try {
            $handle($job);
            $job->ack();
        } catch (LeaseLostException $lost) {
            // Cancelled meanwhile, or slower than the TTR: then another worker has it, and the handler bears both.
            echo $lost->getMessage(), "\n";
        } catch (Throwable $error) {
            $job->fail($error);
        }
    }
}
