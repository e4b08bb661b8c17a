<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Relay;
use DelayQueue\Tests\Support\Remote;
use DelayQueue\Tests\Support\Wait;

/** A consumer is killed with no chance to tidy up, at each step between asking for a job and having it acknowledged. */
final class CrashTest extends ProcessTestCase
{
    /** Longer than a busy machine takes to look at a job that is reserved. */
    private const TTR = 1.0;

    /** The time that a busy machine may add to a deadline. A waiter that nobody wakes looks by itself after four seconds at the earliest. */
    private const SLACK = 2.5;

    private DelayQueue $queue;

    private Relay $relay;

    private Remote $worker;

    protected function setUp(): void
    {
        parent::setUp();
        $this->loadScripts();
        $this->queue = $this->queue(['ttr' => self::TTR]);
        $this->relay = new Relay($this->redis);
        // Longer than any test: it must not try again while it is being held.
        $this->worker = $this->remote(['readTimeout' => 30], $this->relay);
        $this->worker->call('count');
        $this->queue->push('payload', id: 'job');
    }

    protected function tearDown(): void
    {
        $this->relay->stop();
        parent::tearDown();
    }

    public function testKilledBeforeItsReserveReachesRedisTheJobIsUntouched(): void
    {
        $this->relay->holdRequests();
        $this->worker->begin('reserve', 5);
        $this->relay->untilHolding();
        $this->worker->kill();

        $this->assertBackAtOnce();
    }

    public function testKilledWhileWaitingTheNextPushWakesAnother(): void
    {
        $this->queue->cancel('job');
        $this->worker->begin('reserve', 30);
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 5, 'the worker waits');
        $this->worker->kill();
        $other = $this->remote();
        $other->begin('reserve', 30);
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 2, 5, 'another waits');
        $this->queue->push('payload', id: 'job');

        $outcome = $other->outcome();
        $this->assertSame('job', $outcome['result']['id']);
        $this->assertLessThan(self::SLACK, Machine::without($outcome['seconds']), 'it was woken');
        $other->kill();
    }

    public function testKilledWithReserveAppliedAndItsReplyUnreadTheJobIsBackWithinItsTtr(): void
    {
        $this->relay->holdReplies();
        $this->worker->begin('reserve', 5);
        $this->relay->untilHolding();
        $this->assertSame(1, $this->queue->count(State::Reserved));
        $this->worker->kill();

        $this->assertBackWithinItsTtr();
    }

    public function testKilledInTheHandlerTheJobIsBackWithinItsTtr(): void
    {
        $this->assertSame(1, $this->worker->call('reserve')['attempts']);
        $this->worker->kill();

        $this->assertBackWithinItsTtr();
    }

    public function testKilledBeforeItsAckReachesRedisTheJobIsBackWithinItsTtr(): void
    {
        $this->worker->call('reserve');
        $this->relay->holdRequests();
        $this->worker->begin('ack');
        $this->relay->untilHolding();
        $this->worker->kill();

        $this->assertBackWithinItsTtr();
    }

    public function testKilledWithAckAppliedAndItsReplyUnreadTheJobIsDone(): void
    {
        $this->worker->call('reserve');
        $this->relay->holdReplies();
        $this->worker->begin('ack');
        $this->relay->untilHolding();
        $this->worker->kill();

        $this->assertSame(0, $this->queue->count());
        $this->assertSame(1, $this->queue->stats()->acked);
        $this->assertNull($this->queue->reserve(self::TTR + 0.1), 'it never comes back');
    }

    /** @dataProvider settlings */
    #[\PHPUnit\Framework\Attributes\DataProvider('settlings')]
    public function testKilledWithTheReplyOfAnotherSettlingUnreadTheSettlingHolds(string $method, State $state): void
    {
        $this->worker->call('reserve');
        $this->relay->holdReplies();
        $this->worker->begin($method, ...$method === 'release' ? ['1h'] : []);
        $this->relay->untilHolding();
        $this->worker->kill();

        $this->assertSame($state, $this->queue->peek('job')->state);
        $this->assertSame(1, $this->queue->count());
        $this->assertNull($this->queue->reserve(self::TTR + 0.1), 'no lease is left that could run out');
    }

    /** @return array<string, array{string, State}> */
    public static function settlings(): array
    {
        return [
            'release' => ['release', State::Delayed],
            'fail' => ['fail', State::Delayed],
            'bury' => ['bury', State::Buried],
        ];
    }

    public function testKilledWithABatchInHandEveryJobIsBack(): void
    {
        $this->queue->cancel('job');
        $this->queue->pushMany(array_map(static fn (int $n) => ['payload' => $n, 'id' => "job-$n"], range(1, 50)));
        $this->relay->holdReplies();
        $this->worker->begin('reserveMany', 50);
        $this->relay->untilHolding();
        $this->worker->kill();

        $back = [];
        $deadline = microtime(true) + self::TTR + self::SLACK;
        while (count($back) < 50 && microtime(true) < $deadline) {
            foreach ($this->queue->reserveMany(50, self::TTR + self::SLACK) as $job) {
                $this->assertSame($back === [] ? 2 : 1, $job->attempts, 'the first one may have run');
                $back[$job->id] = $job;
            }
        }
        $this->assertCount(50, $back);
        $this->assertSame(50, $this->queue->ackMany(...array_values($back)));
        $this->assertSame(0, $this->queue->count());
    }

    /** So that the first reply that is held is not Redis saying that it does not know the script. */
    private function loadScripts(): void
    {
        $other = new DelayQueue('other', $this->redis->dsn());
        foreach (['ack', 'release', 'fail', 'bury'] as $method) {
            $other->push($method);
            $other->reserve()->$method();
        }
    }

    private function assertBackAtOnce(): void
    {
        $job = $this->queue->reserve();
        $this->assertSame('job', $job?->id);
        $this->assertSame(1, $job->attempts);
        $this->assertNull($job->lastError);
        $job->ack();
        $this->assertSame(0, $this->queue->count());
    }

    private function assertBackWithinItsTtr(): void
    {
        $started = microtime(true);
        $job = $this->queue->reserve(self::TTR + self::SLACK);
        $this->assertSame('job', $job?->id, 'the job is back');
        $this->assertSame('payload', $job->payload);
        $this->assertLessThan(self::TTR + self::SLACK, Machine::lasted($started));
        $this->assertSame(2, $job->attempts);
        $this->assertSame('lease expired', $job->lastError);
        $this->assertSame(1, $this->queue->stats()->timedOut);
        $job->ack();
        $this->assertSame(0, $this->queue->count());
        $keys = "dq:{{$this->queueName}}:";
        $left = array_filter($this->redis->ask('KEYS', "$keys*"), fn (string $key) => $this->redis->ask('TTL', $key) < 0);
        $this->assertSame(["{$keys}meta"], array_values($left), 'nothing is left but counters, and what ends by itself');
    }
}
