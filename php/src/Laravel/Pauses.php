<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DateTimeInterface;
use Illuminate\Contracts\Config\Repository;
use Illuminate\Contracts\Queue\Factory;

/** `queue:pause` and `queue:resume` live in the cache, which only Laravel reads: other consumers of the queue hear of them as well. */
final class Pauses
{
    public function __construct(private readonly Factory $queues, private readonly Repository $config)
    {
    }

    /** @param object{connection: string, queue: string, ttl?: mixed} $event */
    public function pause(object $event): void
    {
        $ttl = $event->ttl ?? null;
        $for = $ttl instanceof DateTimeInterface ? max(0, $ttl->getTimestamp() - time()) : $ttl;
        $this->connection($event)?->native($event->queue)->pause($for);
    }

    /** @param object{connection: string, queue: string} $event */
    public function resume(object $event): void
    {
        $this->connection($event)?->native($event->queue)->resume();
    }

    private function connection(object $event): ?Queue
    {
        if ($this->config->get("queue.connections.{$event->connection}.driver") !== 'delayqueue') {
            return null;
        }
        $connection = $this->queues->connection($event->connection);

        return $connection instanceof Queue ? $connection : null;
    }
}
