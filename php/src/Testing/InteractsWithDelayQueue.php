<?php

declare(strict_types=1);

namespace DelayQueue\Testing;

use DateInterval;
use DateTimeInterface;
use DelayQueue;
use DelayQueue\Testing;
use PHPUnit\Framework\Attributes\After;
use PHPUnit\Framework\Attributes\Before;
use RuntimeException;

/**
 * Tests of code that uses DelayQueue, against the real scripts and a real Redis. For PHPUnit 9.6 to 11.
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
    use AssertsJobs;

    /** @var array<string, string> ini settings as they were before the test */
    private array $delayQueueSettings = [];

    /** @before */
    #[Before]
    protected function setUpDelayQueue(): void
    {
        if (!extension_loaded('delayqueue')) {
            throw new RuntimeException('the delayqueue extension is not loaded: add extension=delayqueue to php.ini');
        }
        $server = RedisServer::shared();
        $server->flush();
        foreach (['delayqueue.dsn' => $server->dsn(), 'delayqueue.testing' => '1'] as $name => $value) {
            $before = ini_set($name, $value);
            if ($before === false) {
                throw new RuntimeException("$name is fixed by php_admin_value: leave it open where tests run");
            }
            $this->delayQueueSettings[$name] = $before;
        }
        putenv('DELAYQUEUE_DSN=' . $server->dsn());
    }

    /** @after */
    #[After]
    protected function tearDownDelayQueue(): void
    {
        if ($this->delayQueueSettings === []) {
            return;
        }
        Testing::travelBack();
        foreach ($this->delayQueueSettings as $name => $value) {
            ini_set($name, $value);
        }
        $this->delayQueueSettings = [];
        putenv('DELAYQUEUE_DSN');
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

    /** Moves time for every queue of this process: seconds, '15m' or a DateInterval; journeys add up. */
    protected function travel(int|float|string|DateInterval $by): void
    {
        Testing::travel($by);
    }

    /** Moves time to a moment, from where it goes on. */
    protected function travelTo(DateTimeInterface $moment): void
    {
        Testing::travelTo($moment);
    }

    /**
     * Runs what is due now with consume(), which settles each job as its handler decides and tells the listeners of the queue.
     *
     * @param callable(\DelayQueue\Job, DelayQueue): mixed $handler
     * @param string|DelayQueue $queue a name, or an object whose listeners are to hear of it
     * @param int $limit more jobs than this fail the test: a handler that releases without a delay never ends
     *
     * @return int the number of jobs handled
     */
    protected function runDueJobs(callable $handler, string|DelayQueue $queue = 'default', int $limit = 1000): int
    {
        $where = is_string($queue) ? " in queue '$queue'" : '';
        $handled = (is_string($queue) ? $this->delayQueue($queue) : $queue)->drain($handler, $limit + 1);
        if ($handled > $limit) {
            static::fail("more than $limit jobs were due$where: is one released without a delay?");
        }

        return $handled;
    }
}
