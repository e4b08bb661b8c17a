<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;

/**
 * A follower of a job whose header asks for one, made with the value of that header. Every method may be called again for the same job: after a crash the
 * job runs again.
 *
 * @internal
 */
interface Step
{
    /**
     * Does what follows a job whose handler has returned. It comes before the job is acknowledged, so that a crash in between repeats it.
     *
     * @param QueueInterface $queue any of the same Redis: siblings reach the others
     * @param mixed $result what the handler has returned
     */
    public function succeeded(JobInterface $job, QueueInterface $queue, mixed $result): void;

    /**
     * Does what follows a job that was buried.
     *
     * @param string $error as Redis keeps it, without passwords of URLs
     */
    public function buried(JobInterface $job, QueueInterface $queue, string $error): void;
}
