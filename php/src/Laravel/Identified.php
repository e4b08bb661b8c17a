<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;

/**
 * For job classes: an id of one's own, by which the job can be cancelled, moved and found.
 *
 *     CloseOrder::dispatch($order)->delay(now()->addMinutes(15))->identifiedBy("order-{$order->id}");
 *     DelayQueue::cancel("order-{$order->id}");
 *
 * On other connections than delayqueue it means nothing.
 */
trait Identified
{
    /** @var array{id?: string, onDuplicate?: string, unique?: int|float|string, maxWait?: int|float|string, expires?: int|float|string, onExpiry?: string, priority?: int, ttr?: int|float} of the payload's member `delayqueue` */
    public array $delayQueue = [];

    /**
     * @param string $id unique in its queue; 1..200 bytes, no control characters
     * @param OnDuplicate $onDuplicate when a job of this id waits already. Fail: dispatching throws DuplicateJobException. Replace: the new
     *     job takes its place, as for a debounce. Keep: the old one stays, and Events\DuplicateKept tells of the new one
     * @param int|float|string|null $unique for so long the id stays taken, whatever becomes of the job: seconds, or as '10m'
     * @param int|float|string|null $maxWait with Replace: the job runs at the latest so long after the first of the dispatches
     *
     * @return $this
     */
    public function identifiedBy(
        string $id,
        OnDuplicate $onDuplicate = OnDuplicate::Fail,
        int|float|string|null $unique = null,
        int|float|string|null $maxWait = null,
    ): static {
        $given = array_filter(['unique' => $unique, 'maxWait' => $maxWait], static fn (mixed $time): bool => $time !== null);
        $this->delayQueue = ['id' => $id, 'onDuplicate' => $onDuplicate->value] + $given + $this->delayQueue;

        return $this;
    }

    /**
     * @param int<0, 4294967295> $priority smaller is sooner; 1024 is that of the others
     *
     * @return $this
     */
    public function withPriority(int $priority): static
    {
        $this->delayQueue = ['priority' => $priority] + $this->delayQueue;

        return $this;
    }

    /**
     * A job that was not started so long after it fell due never runs.
     *
     * @param int|float|string $after seconds, or as '1h'
     *
     * @return $this
     */
    public function expiringAfter(int|float|string $after, OnExpiry $onExpiry = OnExpiry::Bury): static
    {
        $this->delayQueue = ['expires' => $after, 'onExpiry' => $onExpiry->value] + $this->delayQueue;

        return $this;
    }

    /**
     * The lease of this job, in place of the connection's retry_after.
     *
     * @param int|float $seconds 0.1 .. 30 days
     *
     * @return $this
     */
    public function leasedFor(int|float $seconds): static
    {
        $this->delayQueue = ['ttr' => $seconds] + $this->delayQueue;

        return $this;
    }
}
