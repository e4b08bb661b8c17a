<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\QueueInterface;
use DelayQueue\Testing\InteractsWithMemoryQueue;

/** InMemoryQueue keeps the rules. */
final class InMemoryQueueTest extends QueueConformance
{
    use InteractsWithMemoryQueue;

    protected function queue(string $name = 'rules', array $options = []): QueueInterface
    {
        return $this->delayQueue($name, $options);
    }
}
