<?php

/** What demo/doomed_worker.php runs. */

declare(strict_types=1);

use DelayQueue\Job;

/** @param callable(Job): void $handle */
function work(DelayQueue $queue, callable $handle): void
{
    $queue->consume($handle);
}
