<?php

declare(strict_types=1);

namespace DelayQueue\Psr;

use DelayQueue\Event;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use Psr\EventDispatcher\EventDispatcherInterface;
use Throwable;

/** Hands the events of a queue's worker to a PSR-14 dispatcher, each as a {@see WorkerEvent}. */
final class EventBridge
{
    public function __construct(private readonly EventDispatcherInterface $dispatcher)
    {
    }

    /**
     * @template Q of QueueInterface
     *
     * @param Q $queue
     * @param Event ...$events none: all of them
     *
     * @return Q the same, for `$bridge->connect($queue)->consume($handler)`
     */
    public function connect(QueueInterface $queue, Event ...$events): QueueInterface
    {
        foreach ($events ?: Event::cases() as $event) {
            $queue->on($event, function (Event $event, ?JobInterface $job, ?Throwable $error, ?float $seconds) use ($queue): void {
                $this->dispatcher->dispatch(new WorkerEvent($event, $job, $error, $queue, $seconds));
            });
        }

        return $queue;
    }
}
