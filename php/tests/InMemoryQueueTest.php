<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Event;
use DelayQueue\GroupLimits;
use DelayQueue\InMemory\InMemoryQueue;
use DelayQueue\InMemory\Store;
use DelayQueue\Job;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\Queues;
use DelayQueue\StopReason;
use DelayQueue\Testing\InteractsWithMemoryQueue;
use DelayQueue\Worker\HandlerObject;
use DelayQueue\Worker\TaskRouter;
use Error;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use ValueError;

/** Where InMemoryQueue is not as a queue on Redis, and how it is opened. */
final class InMemoryQueueTest extends TestCase
{
    use InteractsWithMemoryQueue;

    public function testTheDsnMemoryOpensQueuesThatSeeEachOther(): void
    {
        $this->assertSame('memory://', getenv('DELAYQUEUE_DSN'));
        Queues::open('orders')->push('x', id: 'a');

        $this->assertInstanceOf(InMemoryQueue::class, Queues::open('orders'));
        $this->assertSame('x', Queues::open('orders', 'memory://')->peek('a')?->payload);
        $this->assertSame(['orders'], Queues::open()->queues());
        $this->assertNull((new InMemoryQueue('orders'))->peek('a'), 'a queue without a store has its own');
        Queues::forgetMemory();
        $this->assertSame([], Queues::open()->queues());
    }

    public function testAnyOtherDsnOpensAQueueOnRedis(): void
    {
        $this->assertInstanceOf(DelayQueue::class, Queues::open('orders', 'redis://127.0.0.1:1'));
        ini_set('delayqueue.dsn', '');
        putenv('DELAYQUEUE_DSN=redis://127.0.0.1:1');
        $this->assertInstanceOf(DelayQueue::class, Queues::open('orders'));
        putenv('DELAYQUEUE_DSN=memory://');
        $this->assertInstanceOf(InMemoryQueue::class, Queues::open('orders'));
    }

    public function testTheExtensionRefusesMemoryOutsideOfTestsAndNamesTheCure(): void
    {
        ini_set('delayqueue.testing', '0');
        $cure = 'must name a Redis: memory:// is for tests, whose jobs end with the process, and needs the ini setting'
            . ' delayqueue.testing=1';
        $messages = [];
        foreach ([static fn () => new DelayQueue('a', 'memory://'), static fn () => new DelayQueue('a')] as $call) {
            try {
                $call();
            } catch (ValueError $error) {
                $messages[] = $error->getMessage();
            }
        }
        $this->assertSame([
            "DelayQueue::__construct(): Argument #2 (\$dsn) $cure",
            "DelayQueue::__construct(): The ini setting delayqueue.dsn $cure",
        ], $messages);
    }

    public function testItIsForTestsAlone(): void
    {
        ini_set('delayqueue.testing', '0');
        $this->expectException(Error::class);
        $this->expectExceptionMessage('InMemoryQueue needs the ini setting delayqueue.testing=1');
        Queues::open();
    }

    public function testNothingIsWaitedForThatCannotCome(): void
    {
        $queue = new InMemoryQueue();
        $this->assertNull($queue->reserve(timeout: null));
        $this->assertFalse($queue->wait());
        $this->assertSame([], $queue->reserveMany(5, 3600));
        $this->assertSame(StopReason::Empty, $queue->consume(static fn (): int => 0));
        $queue->push('a', delay: 3600);
        $this->assertNull($queue->reserve(60));
        $queue->pause();
        $this->assertNull($queue->reserve(timeout: null));
    }

    public function testNothingIsWaitedForThatNoLimitLetsIn(): void
    {
        $queue = new InMemoryQueue(options: ['ttr' => '1d']);
        $queue->limitGroups('full', new GroupLimits(concurrency: 1));
        $queue->pushMany([['payload' => 1, 'group' => 'full'], ['payload' => 2, 'group' => 'full'], ['payload' => 3, 'group' => 'paused']]);
        $queue->pause(group: 'paused');
        $held = $queue->reserve();
        $this->assertSame([1, null, false], [$held?->payload, $queue->reserve(3600), $queue->wait(3600)]);
        $held->ack();
        $this->assertTrue($queue->wait());
        $queue->limitQueue(rate: '1/1d');
        $this->assertSame(2, $queue->reserve()?->payload);
        $queue->push('plain');
        $this->assertNull($queue->reserve(3600));
    }

    public function testATokenIsWaitedFor(): void
    {
        $queue = new InMemoryQueue();
        $queue->limitGroups(null, new GroupLimits(rate: '5/1s', burst: 1));
        $queue->pushMany([['payload' => 'a', 'group' => 'a'], ['payload' => 'b', 'group' => 'a']]);
        $this->assertSame('a', $queue->reserve()?->payload);
        $this->assertNull($queue->reserve());
        $this->assertSame('b', $queue->reserve(timeout: 5)?->payload);
        $queue->pushMany([['payload' => 'c', 'group' => 'b'], ['payload' => 'd', 'group' => 'b']]);
        $queue->rateLimit(0.1, 'b');
        $this->assertSame(['c', 'd'], [$queue->reserve(timeout: 5)?->payload, $queue->reserve(timeout: 5)?->payload]);
    }

    public function testALeaseIsKeptWhileAHandlerRuns(): void
    {
        $queue = new InMemoryQueue();
        $queue->push('a', id: 'a', ttr: 10);
        $handled = $queue->drain(function (Job $job, QueueInterface $queue): void {
            $this->travel(60);
            $this->assertNull($queue->reserve());
        });

        $this->assertSame([1, 0], [$handled, $queue->count()]);
    }

    public function testAListenerThatThrowsIsAWarning(): void
    {
        $queue = new InMemoryQueue();
        $queue->push('a');
        $queue->on(Event::Succeeded, static fn () => throw new RuntimeException('no ears'));
        $warnings = [];
        set_error_handler(static function (int $level, string $message) use (&$warnings): bool {
            $warnings[] = $message;

            return true;
        });
        $queue->drain(static fn (): int => 0);
        restore_error_handler();

        $this->assertSame(['A listener of Event::Succeeded threw RuntimeException: no ears'], $warnings);
    }

    public function testQueuesOfOneStoreServeEachOther(): void
    {
        $store = new Store();
        (new InMemoryQueue('a', store: $store))->push('x');

        $this->assertSame('x', (new InMemoryQueue('b', store: $store))->watch('a')->reserve()?->payload);
    }

    public function testEachMomentOfAStoreIsLaterThanTheOneBefore(): void
    {
        $store = new Store();
        $moments = [];
        for ($n = 0; $n < 5000; ++$n) {
            $moments[] = $store->nowUs();
        }
        $this->assertSame($moments, array_values(array_unique($moments)));
        $this->travel('1h');
        $later = $store->nowUs();
        $this->assertGreaterThan(end($moments) + 3_599_000_000, $later);
        $this->travelTo(new \DateTimeImmutable('2001-01-01 UTC'));
        $this->assertSame('2001', date('Y', intdiv($store->nowUs(), 1_000_000)));
    }

    public function testThePackagesHandlersServeIt(): void
    {
        $queue = $this->delayQueue('orders', ['backoff' => Backoff::fixed(0)]);
        $ended = [];
        $handler = new class($ended) {
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
        $queue->drain(new TaskRouter(['close' => static function (int $order) use (&$ended): void {
            $ended[] = "closed $order";
        }]));

        $this->assertSame(['handled a', 'succeeded a', 'closed 4711'], $ended);
    }
}
