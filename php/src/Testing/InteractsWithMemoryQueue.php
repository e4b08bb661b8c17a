<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

/**
 * As InteractsWithDelayQueue, without Redis: `new DelayQueue('name')` without a DSN, wherever the code under test says it, is a queue on memory://,
 * which is emptied before each test.
 */
trait InteractsWithMemoryQueue
{
    use InteractsWithDelayQueue;

    protected function delayQueueDsn(): string
    {
        return 'memory://';
    }
}
