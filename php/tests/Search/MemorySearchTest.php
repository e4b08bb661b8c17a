<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\QueueInterface;
use DelayQueue\Testing\InteractsWithMemoryQueue;

final class MemorySearchTest extends SearchCase
{
    use InteractsWithMemoryQueue;

    protected function queue(string $name = 'jobs', array $options = []): QueueInterface
    {
        return $this->delayQueue($name, $options);
    }
}
