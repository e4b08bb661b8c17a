<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use DelayQueue;
use PHPUnit\Framework\Attributes\After;
use PHPUnit\Framework\Attributes\Before;

/**
 * Tests of code that uses DelayQueue, against the real scripts and a real Redis. For PHPUnit 9.6 to 13.
 *
 * A private redis-server is started for the suite and emptied before each test. `new DelayQueue('name')` without a DSN,
 * wherever the code under test says it, reaches that server; so do child processes, through DELAYQUEUE_DSN.
 * Time is moved, not waited for: `$this->travel('15m')`.
 *
 *     final class ClosingTest extends TestCase
 *     {
 *         use InteractsWithDelayQueue;
 *
 *         public function testUnpaidOrderIsClosed(): void
 *         {
 *             $this->shop->place('order-1');
 *             $this->assertDelayed('order-1', 'orders', 900);
 *             $this->travel('15m');
 *             $this->assertSame(1, $this->runDueJobs($this->shop->close(...), 'orders'));
 *             $this->assertQueueEmpty('orders');
 *         }
 *     }
 */
trait InteractsWithDelayQueue
{
    use RunsJobs;

    private ?Settings $delayQueueSettings = null;

    /** @before */
    #[Before]
    protected function setUpDelayQueue(): void
    {
        $this->delayQueueSettings = new Settings($this->delayQueueDsn());
    }

    /** @after */
    #[After]
    protected function tearDownDelayQueue(): void
    {
        $this->delayQueueSettings?->restore();
        $this->delayQueueSettings = null;
    }

    protected function delayQueueDsn(): string
    {
        $server = RedisServer::shared();
        $server->flush();

        return $server->dsn();
    }

    /**
     * A queue on the private server.
     *
     * @param array<string, mixed> $options as in the constructor of DelayQueue
     */
    protected function delayQueue(string $queue = 'default', array $options = []): DelayQueue
    {
        return new DelayQueue($queue, null, $options);
    }
}
