<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\QueueInterface;
use DelayQueue\Tests\OnAnyStore;

final class SearchTest extends SearchCase
{
    use OnAnyStore;

    protected function queue(string $name = 'jobs', array $options = []): QueueInterface
    {
        return $this->delayQueue($name, $options);
    }
}
