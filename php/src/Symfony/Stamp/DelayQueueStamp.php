<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Stamp;

use DateInterval;
use DelayQueue\OnDuplicate;
use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/**
 * What one message wants of its queue, beyond the time of a DelayStamp. It is read when the message is sent, and not sent along.
 */
final class DelayQueueStamp implements NonSendableStampInterface
{
    /**
     * @param non-empty-string|null $id the message's id in its queue, to cancel or reschedule it by: 1..200 bytes, no control characters
     * @param int<0, 4294967295>|null $priority smaller is sooner; null: the transport's
     * @param int|float|string|DateInterval|null $ttr length of the lease in seconds, or as '5m'; null: the transport's
     * @param OnDuplicate $onDuplicate the answer to an id that is in the queue already; Fail is a TransportException
     */
    public function __construct(
        public readonly ?string $id = null,
        public readonly ?int $priority = null,
        public readonly int|float|string|DateInterval|null $ttr = null,
        public readonly OnDuplicate $onDuplicate = OnDuplicate::Fail,
    ) {
    }
}
