<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use Throwable;

/** @internal */
final class ChainStep implements Step
{
    public function __construct(private readonly string $value)
    {
    }

    public function succeeded(JobInterface $job, QueueInterface $queue, mixed $result): void
    {
    }

    public function buried(JobInterface $job, QueueInterface $queue, Throwable $error): void
    {
    }
}
