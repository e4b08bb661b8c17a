<?php

declare(strict_types=1);

namespace DelayQueue\Symfony\Stamp;

use Symfony\Component\Messenger\Stamp\NonSendableStampInterface;

/** The group of a message in its queue: a tenant, or whatever else is limited or kept in order. A received message has it again. */
final class GroupStamp implements NonSendableStampInterface
{
    /** @param non-empty-string $group 1..200 bytes, no control characters */
    public function __construct(public readonly string $group)
    {
    }
}
