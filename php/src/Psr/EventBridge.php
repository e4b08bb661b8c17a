<?php

declare(strict_types=1);

namespace DelayQueue\Psr;

use DelayQueue;
use DelayQueue\Event;
use DelayQueue\Job;
use Psr\EventDispatcher\EventDispatcherInterface;
use Throwable;

/** Hands the events of a queue's worker to a PSR-14 dispatcher, each as a {@see WorkerEvent}. */
final class EventBridge
{
    public function __construct(private readonly EventDispatcherInterface $dispatcher)
    {
    }

    /**
     * @param Event ...$events none: all of them
     *
     * @return DelayQueue the same, for `$bridge->connect($queue)->consume($handler)`
     */
    public function connect(DelayQueue $queue, Event ...$events): DelayQueue
    {
        foreach ($events ?: Event::cases() as $event) {
            $queue->on($event, function (Event $event, ?Job $job, ?Throwable $error) use ($queue): void {
                $this->dispatcher->dispatch(new WorkerEvent($event, $job, $error, $queue));
            });
        }

        return $queue;
    }
}
