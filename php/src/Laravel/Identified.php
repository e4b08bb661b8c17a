<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use DelayQueue\OnDuplicate;

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
    /** @var array{id?: string, onDuplicate?: string, priority?: int, ttr?: int|float} of the payload's member `delayqueue` */
    public array $delayQueue = [];

    /**
     * @param string $id unique in its queue; 1..200 bytes, no control characters
     * @param OnDuplicate $onDuplicate when a job of this id waits already. Fail: dispatching throws DuplicateJobException. Replace: the new
     *     job takes its place, as for a debounce. Keep: the old one stays, and Events\DuplicateKept tells of the new one
     *
     * @return $this
     */
    public function identifiedBy(string $id, OnDuplicate $onDuplicate = OnDuplicate::Fail): static
    {
        $this->delayQueue = ['id' => $id, 'onDuplicate' => $onDuplicate->value] + $this->delayQueue;

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
