<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Search;

use DelayQueue\QueueInterface;
use DelayQueue\Testing\InteractsWithDelayQueue;

final class RedisSearchTest extends SearchCase
{
    use InteractsWithDelayQueue;

    protected function queue(string $name = 'jobs', array $options = []): QueueInterface
    {
        return $this->delayQueue($name, $options);
    }
}
