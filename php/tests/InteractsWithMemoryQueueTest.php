<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue;
use DelayQueue\Testing\InteractsWithMemoryQueue;
use PHPUnit\Framework\TestCase;

final class InteractsWithMemoryQueueTest extends TestCase
{
    use InteractsWithMemoryQueue;

    public function testCodeUnderTestReachesTheStoreWithoutADsn(): void
    {
        (new DelayQueue('orders'))->push('a', id: 'order-1');

        $this->assertSame(['memory://', 'memory://'], [getenv('DELAYQUEUE_DSN'), (new DelayQueue())->dsn()]);
        $this->assertPushed('order-1', 'orders');
        $this->assertNotPushed('order-1', 'invoices');
    }

    public function testEachTestBeginsWithNoQueues(): void
    {
        $this->assertSame([], $this->delayQueue()->queues());
        $this->delayQueue('one')->push('a');
        $this->delayQueue('one')->pause();
    }

    /** @depends testEachTestBeginsWithNoQueues */
    #[\PHPUnit\Framework\Attributes\Depends('testEachTestBeginsWithNoQueues')]
    public function testNothingIsLeftOfTheTestBefore(): void
    {
        $this->assertSame([], $this->delayQueue()->queues());
        $this->assertFalse($this->delayQueue('one')->isPaused());
    }

    public function testSettingsAreAfterATestAsTheyWereBefore(): void
    {
        $this->tearDownDelayQueue();
        $found = [ini_get('delayqueue.dsn'), ini_get('delayqueue.testing'), getenv('DELAYQUEUE_DSN')];
        ini_set('delayqueue.testing', '1');
        putenv('DELAYQUEUE_DSN=memory://shop');
        $this->setUpDelayQueue();
        $this->tearDownDelayQueue();
        $this->assertSame(['1', 'memory://shop'], [ini_get('delayqueue.testing'), getenv('DELAYQUEUE_DSN')]);
        ini_set('delayqueue.testing', (string) $found[1]);
        putenv($found[2] === false ? 'DELAYQUEUE_DSN' : "DELAYQUEUE_DSN=$found[2]");
        $this->setUpDelayQueue();
        $this->tearDownDelayQueue();
        $this->assertSame($found, [ini_get('delayqueue.dsn'), ini_get('delayqueue.testing'), getenv('DELAYQUEUE_DSN')]);
    }
}
