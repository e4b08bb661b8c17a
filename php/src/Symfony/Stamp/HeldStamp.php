<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Stamp;

use DelayQueue\Job;
use DelayQueue\RateLimited;
use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;
use Throwable;

/**
 * The job behind a received message: held under a lease (get()), or only looked at (all(), find()).
 *
 * @internal
 */
final class HeldStamp implements NonSendableStampInterface
{
    private bool $done = false;

    private ?Throwable $failure = null;

    /**
     * @param object $owner the transport's own queues: an envelope may be sent on to another transport
     * @param Job|null $job null: looked at
     */
    public function __construct(
        public readonly object $owner,
        public readonly string $id,
        public readonly float $createdAt,
        public readonly ?Job $job = null,
        public readonly ?string $group = null,
    ) {
    }

    /** Settled, or put back for its retry: there is nothing left to acknowledge. */
    public function isDone(): bool
    {
        return $this->done;
    }

    public function done(): void
    {
        $this->done = true;
    }

    public function failed(Throwable $why): void
    {
        $this->failure = $why;
    }

    /**
     * The limit elsewhere that held its handler back, which is no failure. A message that was only looked at has failed all the same, because
     * messenger:failed:retry would take it again and again.
     */
    public function limit(): ?RateLimited
    {
        return $this->job !== null && !$this->done && $this->failure instanceof RateLimited ? $this->failure : null;
    }

    /** Why its handling failed, as far as that was noted. */
    public function failure(): ?Throwable
    {
        return $this->failure;
    }
}
