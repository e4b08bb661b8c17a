<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Flow;

use DelayQueue\QueueInterface;
use DelayQueue\Testing\InteractsWithDelayQueue;

/** Chains on Redis. */
final class ChainTest extends ChainCase
{
    use ChainOnRedis;
    use InteractsWithDelayQueue;

    protected function queue(string $name = 'links', array $options = []): QueueInterface
    {
        return $this->delayQueue($name, $options);
    }
}
