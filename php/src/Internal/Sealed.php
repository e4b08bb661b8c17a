<?php

declare(strict_types=1);

namespace DelayQueue\Internal;

use DelayQueue\QueueInterface;
use DelayQueue\SealException;

/**
 * Queues whose jobs are sealed.
 *
 * @internal
 */
final class Sealed
{
    /** Whether nobody can read its payloads in Redis: then no counter names their tasks. */
    public static function hidesPayloads(QueueInterface $queue): bool
    {
        return $queue->settings()->isSealed && !$queue->settings()->isSigned;
    }

    /** @throws SealException when it has sealed jobs, and this object of it has no keys */
    public static function refuseWithoutKeys(QueueInterface $queue): void
    {
        foreach ($queue->settings()->isSealed ? [] : [$queue->peekReady(), $queue->peekDelayed(), $queue->peekBuried()] as $job) {
            $job?->seal === null || throw new SealException("queue {$queue->name()} needs keys: its jobs are sealed");
        }
    }
}
