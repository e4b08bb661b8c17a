<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Testing;
use PHPUnit\Framework\TestCase;

/** Doubles of queues and jobs: the purpose of the interfaces. */
final class InterfacesTest extends TestCase
{
    use OnAnyStore;

    public function testAQueueCanBeMocked(): void
    {
        $queue = $this->createMock(QueueInterface::class);
        $queue->expects($this->once())->method('push')->with(['order' => 1], '15m')->willReturn('order-1');
        $queue->method('peek')->willReturn(Testing::jobInfo(['id' => 'order-1', 'state' => State::Buried, 'lastError' => 'why']));
        $queue->method('stats')->willReturn(Testing::stats(['buried' => 1]));
        $queue->method('reserve')->willReturn(Testing::job('x', 'order-1'));

        $this->assertSame('order-1', $queue->push(['order' => 1], '15m'));
        $this->assertSame(['why', 1, 'x'], [$queue->peek('order-1')?->lastError, $queue->stats()->buried, $queue->reserve()?->payload]);
    }

    public function testAJobCanBeMocked(): void
    {
        $job = $this->createMock(JobInterface::class);
        $job->expects($this->once())->method('release')->with('30s');
        $queue = $this->createStub(QueueInterface::class);
        $queue->method('reserve')->willReturn($job);

        $queue->reserve()?->release('30s');
    }
}
