<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\QueueInterface;
use DelayQueue\Testing\InteractsWithDelayQueue;

final class PartitionedSearchTest extends SearchCase
{
    use InteractsWithDelayQueue;

    protected function queue(string $name = 'jobs', array $options = []): QueueInterface
    {
        return $this->delayQueue($name, $options + ['partitions' => 3]);
    }

    protected function partitions(): int
    {
        return 3;
    }
}
