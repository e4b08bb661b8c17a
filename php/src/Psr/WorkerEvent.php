<?php

declare(strict_types=1);

namespace DelayQueue\Psr;

use DelayQueue\Event;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use Throwable;

/** Something that a worker reports, as an event object of PSR-14. */
final class WorkerEvent
{
    /**
     * @param JobInterface|null $job null for events of the worker itself
     * @param Throwable|null $error why a job failed, or why the connection was lost
     * @param float|null $seconds for how long the handler of the job has run; null for events that come before it, or long after
     */
    public function __construct(
        public readonly Event $event,
        public readonly ?JobInterface $job,
        public readonly ?Throwable $error,
        public readonly QueueInterface $queue,
        public readonly ?float $seconds = null,
    ) {
    }
}
