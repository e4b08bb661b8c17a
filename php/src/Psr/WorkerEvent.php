<?php

declare(strict_types=1);

namespace DelayQueue\Psr;

use DelayQueue;
use DelayQueue\Event;
use DelayQueue\Job;
use Throwable;

/** Something that a worker reports, as an event object of PSR-14. */
final class WorkerEvent
{
    /**
     * @param Job|null $job null for events of the worker itself
     * @param Throwable|null $error why a job failed, or why the connection was lost
     */
    public function __construct(
        public readonly Event $event,
        public readonly ?Job $job,
        public readonly ?Throwable $error,
        public readonly DelayQueue $queue,
    ) {
    }
}
