<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Release;

/**
 * The end of a member of a batch.
 *
 * @internal
 */
final class BatchStep implements Step
{
    private const RETRY_AFTER = '1s';

    /** @param string $value the name of the batch */
    public function __construct(private readonly string $value)
    {
    }

    public function succeeded(JobInterface $job, QueueInterface $queue, mixed $result): void
    {
        $store = new BatchStore($queue, $this->value);
        $store->unmark($job->id);
        try {
            $store->close();
        } catch (BatchHeld $error) {
            throw new Release(self::RETRY_AFTER, "the job was handled, but {$error->getMessage()}", countAttempt: false);
        }
    }

    public function buried(JobInterface $job, QueueInterface $queue, string $error): void
    {
        $store = new BatchStore($queue, $this->value);
        $failed = $store->definition()?->failed;
        if ($failed !== null) {
            BatchCall::pushFailed($failed, $store, $job->id, $job->queue, $error);
        }
    }
}
