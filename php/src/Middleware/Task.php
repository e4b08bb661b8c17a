<?php

declare(strict_types=1);

namespace DelayQueue\Middleware;

use DelayQueue\JobInterface;

/**
 * The task of a job, as TaskRouter reads it.
 *
 * @internal
 */
final class Task
{
    public static function of(JobInterface $job): ?string
    {
        $task = is_array($job->payload) ? $job->payload['task'] ?? null : null;

        return is_string($task) ? $task : null;
    }
}
