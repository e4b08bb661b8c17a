<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue\DuplicateJobException;
use DelayQueue\Laravel\Middleware\WatchedCommand;
use Illuminate\Contracts\Queue\Job as JobContract;
use Illuminate\Database\Eloquent\ModelNotFoundException;

/**
 * Laravel's handler, with two more ends: of a job whose model is gone, and of a chain whose next link is refused. It
 * also lets the job know which of its middleware is at work.
 */
final class JobHandler extends JobEnds
{
    /** @var array<array-key, mixed> of the job that it handles */
    private array $payload = [];

    private bool $isRestored = false;

    /** @param array<array-key, mixed> $payload of the job that it is to handle */
    public function of(array $payload): self
    {
        $this->payload = $payload;

        return $this;
    }

    /** {@inheritdoc} The framework before 13 leaves lock and batch of a job whose model is gone. */
    public function failed(array $data, $e, string $uuid, ...$more)
    {
        try {
            parent::failed($data, $e, $uuid, ...$more);
        } catch (ModelNotFoundException $gone) {
            if ($this->isRestored) {
                throw $gone; // of the job's own failed()
            }
            $held = Held::in($this->payload);
            if ($held !== null) {
                $this->release($held, $this->payload);
                $this->batchOf($held)?->recordFailedJob($uuid, $e);
            }
        }
    }

    protected function handleModelNotFound(JobContract $job, $e)
    {
        parent::handleModelNotFound($job, $e);
        $held = Held::in($this->payload);
        if ($held !== null && $job->isDeleted() && !$job->hasFailed()) {
            $this->release($held, $this->payload);
            $isCounted = method_exists(parent::class, 'ensureSuccessfulBatchJobIsRecordedForMissingModel');
            $this->countAsDone($held, $this->payload, ($isCounted ? 0 : 1) + $held->links);
        }
    }

    /** {@inheritdoc} The job is done: if the id of the next one is taken, the chain ends here. */
    protected function ensureNextJobInChainIsDispatched($command)
    {
        try {
            parent::ensureNextJobInChainIsDispatched($command);
        } catch (DuplicateJobException $refused) {
            $this->reported(static fn () => throw $refused);
            $command->invokeChainCatchCallbacks($refused);
        }
    }

    protected function getCommand(array $data)
    {
        $this->isRestored = false;
        $command = parent::getCommand($data);
        $this->isRestored = true;

        return $command;
    }

    /** {@inheritdoc} The job knows which of its middleware is at work. */
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
