<?php

declare(strict_types=1);

namespace DelayQueue\Laravel;

use BackedEnum;
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
    /** @var array<string, mixed> by the names that DelayQueue\NewJob has: the payload's member `delayqueue` */
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
        return $this->queuedWith(...['id' => $id, 'onDuplicate' => $onDuplicate] + array_filter(compact('unique', 'maxWait'), is_scalar(...)));
    }

    /**
     * @param int<0, 4294967295> $priority smaller is sooner; 1024 is that of the others
     *
     * @return $this
     */
    public function withPriority(int $priority): static
    {
        return $this->queuedWith(priority: $priority);
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
        return $this->queuedWith(expires: $after, onExpiry: $onExpiry);
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
        return $this->queuedWith(ttr: $seconds);
    }

    /**
     * What else a DelayQueue\NewJob may have, by the names of its parameters, such as `headers`. For the rest Laravel has words: delay, $tries,
     * $backoff, $timeout and retryUntil().
     *
     * @param mixed ...$options enums, and what JSON keeps: the payload has them until the job is pushed
     *
     * @return $this
     */
    public function queuedWith(mixed ...$options): static
    {
        $stored = static fn (mixed $option): mixed => $option instanceof BackedEnum ? $option->value : $option;
        $this->delayQueue = array_map($stored, $options) + $this->delayQueue;

        return $this;
    }
}
