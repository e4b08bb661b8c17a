<?php

declare(strict_types=1);

namespace DelayQueue\Console;

use DelayQueue;
use DelayQueue\Schedule\Schedules;
use Symfony\Component\Console\Input\InputInterface;

/** The queue of schedules that --queue names, and the queues of their jobs. */
final class ScheduleQueue
{
    public const NAME = 'schedules';

    private readonly Target $target;

    public function __construct(InputInterface $input)
    {
        $this->target = new Target($input);
    }

    /** DELAYQUEUE_QUEUE names a queue of jobs, and is not asked. */
    public function name(): string
    {
        return $this->target->named() === [] ? self::NAME : $this->target->name();
    }

    public function schedules(): Schedules
    {
        return new Schedules($this->queue(), $this->target->open(...));
    }

    public function queue(): DelayQueue
    {
        return $this->target->open($this->name());
    }

    /** @throws UsageException when --queue names one that is not there */
    public function refuseUnknown(): void
    {
        $this->target->refuseUnknown(...$this->target->named());
    }

    /** @throws NothingDone|UsageException always */
    public function refuse(string $schedule, string $or = ''): never
    {
        $this->refuseUnknown();
        throw new NothingDone("there is no schedule $schedule in queue {$this->name()}$or");
    }
}
