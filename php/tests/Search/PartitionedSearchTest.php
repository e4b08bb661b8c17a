<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\QueueInterface;
use DelayQueue\Tests\OnAnyStore;

final class PartitionedSearchTest extends SearchCase
{
    use OnAnyStore;

    protected function queue(string $name = 'jobs', array $options = []): QueueInterface
    {
        return $this->delayQueue($name, $options + ['partitions' => 3]);
    }

    protected function partitions(): int
    {
        return 3;
    }
}
