<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Conformance;

use DelayQueue\QueueInterface;
use DelayQueue\Testing\InteractsWithDelayQueue;

/** The extension keeps the rules, on a real Redis. */
final class RedisQueueTest extends QueueConformance
{
    use InteractsWithDelayQueue;

    protected function queue(string $name = 'rules', array $options = []): QueueInterface
    {
        return $this->delayQueue($name, $options);
    }
}
