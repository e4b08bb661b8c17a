<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\QueueInterface;
use DelayQueue\Testing\InteractsWithMemoryQueue;

/** Chains in memory. */
final class ChainInMemoryTest extends ChainCase
{
    use InteractsWithMemoryQueue;

    protected function queue(string $name = 'links', array $options = []): QueueInterface
    {
        return $this->delayQueue($name, $options);
    }
}
