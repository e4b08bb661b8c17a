<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use DelayQueue\QueueInterface;
use DelayQueue\Testing\InteractsWithMemoryQueue;
use PHPUnit\Framework\TestCase;

final class ChunkInMemoryTest extends TestCase
{
    use ChunkRules;
    use InteractsWithMemoryQueue;

    protected function chunkQueue(string $name = 'default'): QueueInterface
    {
        return $this->delayQueue($name);
    }
}
