<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Database;

use Closure;
use DelayQueue\Database\RowEnds;
use DelayQueue\JobInfo;
use DelayQueue\QueueInterface;
use DelayQueue\Symfony\Transport\MessageEnds;

/**
 * The queues that rows go to, and the ends of messages there.
 *
 * @internal
 */
final class RowQueues implements RowEnds
{
    /**
     * @param Closure(string): QueueInterface $queue by its name
     * @param non-empty-array<array-key, MessageEnds> $ends by the name of the queue; the first one is for any other
     */
    public function __construct(private readonly Closure $queue, private readonly array $ends)
    {
    }

    public function __invoke(string $name): QueueInterface
    {
        return ($this->queue)($name);
    }

    public function concerns(string $payload): bool
    {
        foreach ($this->ends as $ends) {
            if ($ends->lockOf($payload) !== null) {
                return true;
            }
        }

        return false;
    }

    public function kept(string $queue, string $id, string $payload): void
    {
        $this->of($queue)->kept($this($queue), $id, $payload);
    }

    public function replaced(JobInfo $job, string $payload): void
    {
        $this->of($job->queue)->left($this($job->queue), $job);
    }

    public function cancel(QueueInterface $queue, JobInfo $job): void
    {
        $this->of($job->queue)->cancel($queue, $job);
    }

    private function of(string $queue): MessageEnds
    {
        return $this->ends[$queue] ?? $this->ends[array_key_first($this->ends)];
    }
}
