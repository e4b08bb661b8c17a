<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Job;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\StopReason;
use DelayQueue\Testing\InteractsWithMemoryQueue;
use DelayQueue\Worker\HandlerObject;
use DelayQueue\Worker\TaskRouter;
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

    public function testNothingIsWaitedForThatCannotCome(): void
    {
        $queue = $this->delayQueue();
        $this->assertNull($queue->reserve(timeout: null));
        $this->assertFalse($queue->wait());
        $this->assertSame([], $queue->reserveMany(5, 3600));
        $this->assertSame(StopReason::Empty, $queue->consume(static fn (): int => 0));
        $queue->push('a', delay: 3600);
        $this->assertNull($queue->reserve(60));
        $queue->pause();
        $this->assertNull($queue->reserve(timeout: null));
        $queue->resume();
        $this->travel('1h');
        $this->assertSame(1, $this->runDueJobs(static fn (): int => 0));
    }

    public function testThePackagesHandlersServeIt(): void
    {
        $queue = $this->delayQueue('orders', ['backoff' => Backoff::fixed(0)]);
        $ended = [];
        $handler = new class ($ended) {
            public function __construct(private array &$ended)
            {
            }

            public function handle(JobInterface $job, QueueInterface $queue): void
            {
                $this->ended[] = "handled $job->id";
            }

            public function afterSucceeded(JobInterface $job): void
            {
                $this->ended[] = "succeeded $job->id";
            }
        };
        $queue->push('x', id: 'a');
        $queue->drain(new HandlerObject($handler));
        $queue->push(['task' => 'close', 'params' => 4711], id: 'b');
        $queue->drain(new TaskRouter(['close' => static function (int $order, Job $job) use (&$ended): void {
            $ended[] = "closed $order";
        }]));

        $this->assertSame(['handled a', 'succeeded a', 'closed 4711'], $ended);
    }
}
