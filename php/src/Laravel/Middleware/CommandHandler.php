<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Middleware;

use DelayQueue\Laravel\Job;
use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Queue\CallQueuedHandler;

/**
 * Runs a job as Laravel's handler does, and lets the job know which of its middleware is at work.
 *
 * @internal
 */
final class CommandHandler extends CallQueuedHandler
{
    protected function dispatchThroughMiddleware(JobContract $job, $command)
    {
        if (!$job instanceof Job || $command instanceof \__PHP_Incomplete_Class) {
            return parent::dispatchThroughMiddleware($job, $command);
        }
        $ofMethod = method_exists($command, 'middleware') ? $command->middleware() : [];
        $all = array_merge($ofMethod, $command->middleware ?? []);
        $watched = $all === [] ? $command : new WatchedCommand($command, $all, $job, $this->container);

        return parent::dispatchThroughMiddleware($job, $watched);
    }

    protected function commandShouldBeUniqueUntilProcessing($command): bool
    {
        return parent::commandShouldBeUniqueUntilProcessing(WatchedCommand::inner($command));
    }

    protected function uniqueJobLockShouldBeReleased($job, $command)
    {
        return parent::uniqueJobLockShouldBeReleased($job, WatchedCommand::inner($command));
    }

    protected function ensureUniqueJobLockIsReleased($command)
    {
        return parent::ensureUniqueJobLockIsReleased(WatchedCommand::inner($command));
    }
}
