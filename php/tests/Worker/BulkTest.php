<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use Closure;
use DelayQueue;
use DelayQueue\Backoff;
use DelayQueue\Event;
use DelayQueue\Flow\Follow;
use DelayQueue\JobInterface;
use DelayQueue\Middleware\Pipeline;
use DelayQueue\QueueInterface;
use DelayQueue\ShutdownException;
use DelayQueue\State;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\RedisServer;
use DelayQueue\TimeoutException;
use DelayQueue\Worker\TaskRouter;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use Throwable;
use TypeError;

/** consume(batch: …): handlers of many jobs at once. See also tests/phpt and tests/console/CliBulkTest.php. */
final class BulkTest extends TestCase
{
    use OnAnyStore;

    private const ENDS = [
        Event::Succeeded, Event::Released, Event::Failed, Event::Buried, Event::TimedOut, Event::LeaseLost,
        Event::Cancelled,
    ];

    /** @var list<string> the ids that each call of a handler got */
    private array $calls = [];

    /** @var list<string> how jobs ended */
    private array $heard = [];

    public function testNoJobIsBuriedBecauseOfAnotherOne(): void
    {
        $queue = $this->listening();
        foreach (['a', 'poison', 'b'] as $id) {
            $queue->push($id, id: $id, maxAttempts: 2, backoff: Backoff::fixed('1m'));
        }
        $handler = static function (array $jobs): void {
            in_array('poison', array_column($jobs, 'payload'), true) && throw new RuntimeException('no');
        };
        $this->consume($queue, $handler);
        $this->assertSame(['failed a', 'failed poison', 'failed b'], $this->heard);
        $this->heard = [];
        $this->travel('61s');
        $this->consume($queue, $handler);

        $this->assertSame(['a,poison,b', 'a', 'poison', 'b'], $this->calls);
        $this->assertSame([1, State::Buried], [$queue->count(), $queue->peek('poison')->state]);
        $this->assertSame(['succeeded a', 'failed poison', 'buried poison', 'succeeded b'], $this->heard);
    }

    public function testAJobWhoseLeaseEndedOnceComesAlone(): void
    {
        $queue = $this->listening();
        $queue->push(1, id: 'a', priority: 1);
        $queue->push(1, id: 'b', priority: 1, delay: '7s');
        $queue->push(1, id: 'lost', ttr: 5);
        $queue->reserveJob('lost');
        $this->travel('10s');
        $this->consume($queue);
        $this->assertEqualsCanonicalizing(['a,b', 'lost'], $this->calls);
    }

    public function testAJobThatIsCancelledMeanwhileIsLostAndTheOthersAreDone(): void
    {
        $queue = $this->listening('a', 'b', 'c');
        $this->consume($queue, function (array $jobs, QueueInterface $queue): void {
            $this->delayQueue()->cancel('b');
            // The heartbeat looks once a second; a store in the process knows at once.
            for ($began = microtime(true); !$jobs[1]->isLost() && Machine::lasted($began) < 20.0;) {
                usleep(5_000);
            }
            $this->assertFalse($jobs[0]->isLost() || $jobs[2]->isLost());
            $this->assertTrue($jobs[1]->isLost());
        });
        $this->assertSame(['cancelled b', 'succeeded a', 'leaseLost b', 'succeeded c'], $this->heard);
        $this->assertSame([0, 2], [$queue->count(), $queue->stats()->acked]);
    }

    public function testTheLongestTimeLimitOfItsJobsIsThatOfTheBatch(): void
    {
        $queue = $this->listening();
        $queue->push(1, id: 'short', timeout: '50ms');
        $queue->push(1, id: 'long', timeout: '400ms');
        $began = microtime(true);
        $this->consume($queue, $this->working(20.0));
        $this->assertGreaterThan(0.39, microtime(true) - $began);
        $this->assertSame(['timedOut short', 'failed short', 'timedOut long', 'failed long'], $this->heard);
        $this->assertSame('timed out after 0.4 s', $queue->peek('short')->lastError);
        $this->heard = [];
        $queue->push(1, id: 'limited', timeout: '50ms');
        $queue->push(1, id: 'free');
        $this->consume($queue, $this->working(0.2));
        $this->assertSame(['succeeded limited', 'succeeded free'], $this->heard);
    }

    public function testAHandlerThatIsToldToEndGivesAllBackUncounted(): void
    {
        $queue = $this->listening('a', 'b', 'c');
        [$pid, $run] = [getmypid(), $this->working(20.0)];
        $queue->consume(static function (array $jobs) use ($pid, $run): void {
            $jobs[2]->ack();
            posix_kill($pid, SIGTERM);
            try {
                $run();
            } catch (ShutdownException $error) {
                throw new RuntimeException('I was interrupted', 0, $error);
            }
        }, batch: 10, shutdownTimeout: '50ms');
        $this->assertSame(['released a', 'released b'], $this->heard);
        $this->assertSame(2, $queue->count(State::Ready));
        $this->assertSame([0, 0], [$queue->peek('a')->attempts, $queue->peek('b')->attempts]);
    }

    public function testJobsThatAreDoneStayDoneWhenAListenerEndsTheProcess(): void
    {
        $redis = new RedisServer();
        try {
            $open = static fn (): DelayQueue => new DelayQueue('exits', $redis->dsn(), ['persistent' => false]);
            $open()->pushMany([['payload' => 1], ['payload' => 2], ['payload' => 3]]);
            $child = pcntl_fork();
            if ($child === 0) {
                $queue = $open();
                $queue->on(Event::Succeeded, static fn () => exit(0));
                $queue->consume(static fn (array $jobs) => 1, batch: 10);
                exit(0);
            }
            pcntl_waitpid($child, $status);
            $this->assertCount(0, $open());
        } finally {
            $redis->remove();
        }
    }

    /**
     * In memory nothing is waited for that nobody can push.
     *
     * @group redis
     */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
    public function testABatchThatWaitsForMoreEndsWithMaxTime(): void
    {
        $queue = $this->listening('a');
        $began = microtime(true);
        $queue->consume(static fn (array $jobs) => 1, maxTime: '200ms', batch: 10, within: '30s');
        $this->assertLessThan(25.0, microtime(true) - $began);
    }

    /**
     * In memory nothing is waited for that nobody can push.
     *
     * @group redis
     */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
    public function testAJobThatIsCancelledWhileItsBatchWaitsIsNotHandled(): void
    {
        $queue = $this->listening('a', 'b');
        $queue->push(1, id: 'c', delay: '3s');
        $other = $this->delayQueue()->sibling('default');
        pcntl_async_signals(true);
        pcntl_signal(SIGALRM, static fn () => $other->cancel('a'));
        pcntl_alarm(1);
        $ids = [];
        $queue->consume(static function (array $jobs, QueueInterface $queue) use (&$ids): void {
            $ids = array_column($jobs, 'id');
            $queue->stop();
        }, batch: 3, within: '30s', maxTime: '20s');
        pcntl_signal(SIGALRM, SIG_DFL);
        $this->assertNotContains('a', $ids);
    }

    public function testABatchIsOfAllPartitionsOfItsQueue(): void
    {
        $queue = $this->delayQueue('default', ['partitions' => 3]);
        $queue->pushMany(array_fill(0, 9, ['payload' => 1]));
        $this->consume($queue);
        $this->assertCount(1, $this->calls);
    }

    public function testSealedJobsOfAQueueWithPartitionsAndAPrefixCome(): void
    {
        $options = ['partitions' => 3, 'prefix' => 'shop', 'keys' => ['2030' => str_repeat('k', 32)]];
        $queue = $this->delayQueue('default', $options);
        $job = static fn (int $n): array => ['payload' => $n, 'group' => 'group-' . $n % 5];
        $queue->pushMany(array_map($job, range(1, 40)));
        $payloads = [];
        $this->consume($queue, static function (array $jobs) use (&$payloads): void {
            array_push($payloads, ...array_column($jobs, 'payload'));
        });
        sort($payloads);
        $this->assertSame(range(1, 40), $payloads);
        $this->assertCount(0, $queue);
    }

    public function testAHandlerOfSingleJobsIsRefused(): void
    {
        $single = static fn (JobInterface $job) => $this->fail('it gets none');
        $queue = $this->listening('a');
        $list = static fn (array $jobs) => 1;
        foreach ([$single, new Follow($single), new Pipeline($list), new TaskRouter(['a' => $list])] as $handler) {
            try {
                $queue->consume($handler, stopWhenEmpty: true, batch: 5);
                $this->fail('it is taken');
            } catch (TypeError $error) {
                $this->assertStringContainsString('must take a list of jobs, and a queue', $error->getMessage());
            }
        }
        $this->assertSame(0, $queue->peek('a')->attempts);
    }

    /**
     * Redis counts what it is asked.
     *
     * @group redis
     */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
    public function testABatchAsksRedisNoMoreThanPrefetchDoes(): void
    {
        $redis = new RedisServer();
        try {
            $queue = new DelayQueue('costs', $redis->dsn());
            $calls = function (callable $handler, mixed ...$options) use ($redis, $queue): int {
                $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n], range(1, 1000)));
                $before = $redis->calls('evalsha');
                $queue->consume($handler, ...$options, maxJobs: 1000);
                $this->assertCount(0, $queue);

                return $redis->calls('evalsha') - $before;
            };
            $one = $calls(static fn (JobInterface $job) => 1, prefetch: 50);
            $this->assertLessThanOrEqual($one * 1.1 + 2, $calls(static fn (array $jobs) => 1, batch: 50));
            $this->assertLessThanOrEqual($one * 1.1 + 2, $calls(static fn (array $jobs) => 1, batch: 50, within: '1m'));
        } finally {
            $redis->remove();
        }
    }

    /** A handler that takes so many seconds. */
    private function working(float $seconds): Closure
    {
        return static function () use ($seconds): void {
            for ($until = microtime(true) + $seconds; microtime(true) < $until;) {
                usleep(1_000);
            }
        };
    }

    private function consume(QueueInterface $queue, ?callable $handler = null, int $batch = 10): void
    {
        $queue->consume(function (array $jobs, QueueInterface $queue) use ($handler): void {
            $this->calls[] = implode(',', array_column($jobs, 'id'));
            $handler === null || $handler($jobs, $queue);
        }, stopWhenEmpty: true, batch: $batch);
    }

    /** A queue with these jobs, whose events are noted. */
    private function listening(string ...$ids): QueueInterface
    {
        $queue = $this->delayQueue();
        $queue->pushMany(array_map(static fn (string $id): array => ['payload' => 1, 'id' => $id], $ids));
        foreach (self::ENDS as $event) {
            $queue->on($event, function (Event $event, ?JobInterface $job, ?Throwable $error, ?float $seconds): void {
                $this->assertIsFloat($seconds);
                $event === Event::TimedOut && $this->assertInstanceOf(TimeoutException::class, $error);
                $this->heard[] = "$event->value $job->id";
            });
        }

        return $queue;
    }
}
