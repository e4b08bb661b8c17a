<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Stamp;

use DateInterval;
use DateTimeInterface;
use DelayQueue\OnDuplicate;
use DelayQueue\OnExpiry;
use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/**
 * Wishes of one message to its queue, beyond the time of a DelayStamp. The sender reads the stamp and does not send it along.
 */
final class DelayQueueStamp implements NonSendableStampInterface
{
    /**
     * @param non-empty-string|null $id the message's id in its queue, to cancel or reschedule it by: 1..200 bytes, no control characters
     * @param int<0, 4294967295>|null $priority smaller is sooner; null: the transport's
     * @param int|float|string|DateInterval|null $ttr length of the lease in seconds, or as '5m'; null: the transport's
     * @param OnDuplicate $onDuplicate the answer to an id that is in the queue already; Fail is a TransportException
     * @param int|float|string|DateInterval|null $unique for so long the id stays taken, whatever becomes of the message
     * @param int|float|string|DateInterval|null $maxWait with Replace: the message is due at the latest so long after the first of those that were
     *     replaced
     * @param int|float|string|DateInterval|DateTimeInterface|null $expires a message that was not received by then, or so long after it fell due,
     *     never is
     */
    public function __construct(
        public readonly ?string $id = null,
        public readonly ?int $priority = null,
        public readonly int|float|string|DateInterval|null $ttr = null,
        public readonly OnDuplicate $onDuplicate = OnDuplicate::Fail,
        public readonly int|float|string|DateInterval|null $unique = null,
        public readonly int|float|string|DateInterval|null $maxWait = null,
        public readonly int|float|string|DateInterval|DateTimeInterface|null $expires = null,
        public readonly OnExpiry $onExpiry = OnExpiry::Bury,
    ) {
    }
}
