<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use DelayQueue\InMemory\InMemoryQueue;
use DelayQueue\Queues;
use DelayQueue\Testing;
use PHPUnit\Framework\Attributes\After;
use PHPUnit\Framework\Attributes\Before;

/**
 * Tests of code that takes a QueueInterface, or opens its queues with Queues::open(), without Redis. The same assertions and the same
 * journeys in time as in InteractsWithDelayQueue, which runs the real scripts on a real Redis.
 */
trait InteractsWithMemoryQueue
{
    use RunsJobs;

    private ?Settings $delayQueueSettings = null;

    /** @before */
    #[Before]
    protected function setUpMemoryQueue(): void
    {
        $this->delayQueueSettings = new Settings('memory://');
        Queues::forgetMemory();
        Testing::forgetMemory();
    }

    /** @after */
    #[After]
    protected function tearDownMemoryQueue(): void
    {
        $this->delayQueueSettings?->restore();
        $this->delayQueueSettings = null;
        Queues::forgetMemory();
    }

    /**
     * The queue that Queues::open() gives to the code under test.
     *
     * @param array<string, mixed> $options as in the constructor of DelayQueue
     */
    protected function delayQueue(string $queue = 'default', array $options = []): InMemoryQueue
    {
        $opened = Queues::open($queue, 'memory://', $options);
        assert($opened instanceof InMemoryQueue);

        return $opened;
    }
}
