<?php

declare(strict_types=1);

namespace DelayQueue\Flow;

use DelayQueue\QueueInterface;

/**
 * A job of a chain or batch, as it is to be pushed, and the queue that it is for.
 *
 * @internal
 */
final class Placed
{
    /** @param array<string, mixed> $job for pushMany() of $target */
    public function __construct(public readonly QueueInterface $target, public readonly array $job)
    {
    }
}
