<?php

declare(strict_types=1);

namespace DelayQueue\Laravel\Database;

use Closure;
use DelayQueue\Database\RowEnds;
use DelayQueue\JobInfo;
use DelayQueue\Laravel\QueueName;
use DelayQueue\QueueInterface;

/** The queues that rows go to, and what Laravel is told of jobs that end there. */
final class RowQueues implements RowEnds
{
    /**
     * @param Closure(string): QueueInterface $queue by its name in Redis
     * @param Closure(string): bool $concerns
     * @param Closure(string, string, string): void $kept with the queue's name in Laravel
     * @param Closure(JobInfo, string): void $replaced
     * @param Closure(QueueInterface, JobInfo): mixed $cancel
     */
    public function __construct(
        private readonly Closure $queue,
        private readonly Closure $concerns,
        private readonly Closure $kept,
        private readonly Closure $replaced,
        private readonly Closure $cancel,
    ) {
    }

    public function __invoke(string $name): QueueInterface
    {
        return ($this->queue)($name);
    }

    public function concerns(string $payload): bool
    {
        return ($this->concerns)($payload);
    }

    public function kept(string $queue, string $id, string $payload): void
    {
        ($this->kept)(QueueName::decode($queue), $id, $payload);
    }

    public function replaced(JobInfo $job, string $payload): void
    {
        ($this->replaced)($job, $payload);
    }

    public function cancel(QueueInterface $queue, JobInfo $job): void
    {
        ($this->cancel)($queue, $job);
    }
}
