<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Stamp;

use DelayQueue\Internal\GivenJob;
use DelayQueue\InvalidArgument;
use DelayQueue\NewJob;
use Error;
use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;
use TypeError;

/**
 * Wishes of one message to its queue, beyond the time of a DelayStamp. The sender reads the stamp and does not send it along:
 *
 *     new DelayQueueStamp(id: 'order-4711', priority: 10, ttr: '5m', onDuplicate: OnDuplicate::Keep)
 */
final class DelayQueueStamp implements NonSendableStampInterface
{
    /** @var array<string, mixed> */
    public readonly array $options;

    /**
     * @param non-empty-string|null $id the message's id in its queue, to cancel or reschedule it by
     * @param mixed ...$options by the names of NewJob's parameters, all of them but payload and delay. An id that is in the
     *     queue already is a TransportException when the message is sent, unless onDuplicate says otherwise
     *
     * @throws InvalidArgument|TypeError
     * @throws Error for a name that NewJob does not have
     */
    public function __construct(?string $id = null, mixed ...$options)
    {
        $known = array_diff_key(get_class_vars(NewJob::class), ['payload' => 1, 'delay' => 1]);
        foreach (array_keys(array_diff_key($options, $known)) as $name) {
            throw new Error(is_int($name)
                ? self::class . ' takes all but the id by their names'
                : "Unknown named parameter \$$name; there are " . implode(', ', array_keys($known)));
        }
        $job = new NewJob(...['payload' => null, 'id' => $id] + $options);
        $this->options = array_diff_key(GivenJob::read($job, self::class), ['payload' => 0]);
    }
}
