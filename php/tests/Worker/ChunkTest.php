<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use DelayQueue\QueueInterface;
use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;

final class ChunkTest extends TestCase
{
    use ChunkRules;
    use InteractsWithDelayQueue;

    protected function chunkQueue(string $name = 'default'): QueueInterface
    {
        return $this->delayQueue($name);
    }
}
