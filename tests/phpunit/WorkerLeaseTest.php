<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue;
use DelayQueue\State;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\Tests\Support\Worker;

/** While a handler runs its lease is renewed; when its worker is dead or frozen it is not. */
final class WorkerLeaseTest extends ProcessTestCase
{
    private const TTR = 1.0;
    /** The time that a busy machine may need on top. */
    private const SLACK = 4.0;

    /** @var list<Worker> */
    private array $workers = [];

    protected function tearDown(): void
    {
        foreach ($this->workers as $worker) {
            $worker->kill();
        }
        parent::tearDown();
    }

    public function testAJobOfSeveralLeasesIsExecutedOnceWhetherItSleepsOrComputes(): void
    {
        $deeds = ['sleeping' => ['do' => 'sleep', 'seconds' => 8], 'computing' => ['do' => 'compute', 'seconds' => 7]];
        foreach ($deeds as $name => $deed) {
            $queues[$name] = new DelayQueue($name, $this->redis->dsn(), ['readTimeout' => 10]);
            $queues[$name]->push($deed, id: 'long', ttr: 3 * self::TTR);
            $queues[$name]->push([], id: 'behind', ttr: 3 * self::TTR);
            $busy[$name] = $this->worker($name, ['prefetch' => 2]);
            $busy[$name]->hear('started long 1');
            $idle[$name] = $this->worker($name);
        }
        foreach ($queues as $name => $queue) {
            $busy[$name]->hear('ended behind', 60);
            Wait::until(static fn () => $queue->stats()->acked === 2, 5, "both jobs of '$name' are acknowledged");
            $idle[$name]->signal(SIGTERM);
            $this->assertSame(['stopped Signal'], $idle[$name]->lines(), 'the other worker had nothing to do');
            $this->assertSame(0, $queue->stats()->timedOut);
            $this->assertSame(0, $queue->count());
        }
    }

    public function testLeasesAreRenewedThreeTimesATtrTogether(): void
    {
        $this->queue()->push(['do' => 'hold'], id: 'held', ttr: 1.5);
        for ($n = 0; $n < 9; $n++) {
            $this->queue()->push([], ttr: 1.5);
        }
        $worker = $this->worker($this->queueName, ['prefetch' => 10, 'maxJobs' => 10]);
        $worker->hear('started held 1');
        $before = $this->redis->calls('evalsha');
        $ends = $this->queue()->peek('held')->leaseUntil;
        $started = microtime(true);
        $renewals = fn (): int => $this->redis->calls('evalsha') - $before - 1;
        Wait::until(static fn (): bool => $renewals() >= 8, 30, 'eight renewals');
        $this->assertGreaterThan(3.0, microtime(true) - $started, 'one round trip each half second renews all ten');
        $this->assertGreaterThan($ends + 2, $this->queue()->peek('held')->leaseUntil);
        $this->assertSame(10, $this->queue()->count(State::Reserved));
        $worker->say('go');
        $this->assertSame(0, $worker->exitCode());
        $this->assertSame([10, 0], [$this->queue()->stats()->acked, $this->queue()->stats()->timedOut]);
    }

    public function testACancelIsNoticedInTheHandlerAndTheLossIsReported(): void
    {
        $this->queue()->push(['do' => 'say lost'], id: 'job', ttr: self::TTR);
        $worker = $this->worker($this->queueName, ['maxJobs' => 1], 'LeaseLost,Succeeded');
        $worker->hear('started job 1');
        $this->queue()->cancel('job');
        $this->assertSame(['lost: yes', 'ended job', 'event LeaseLost job', 'stopped MaxJobs'], $worker->lines());
    }

    public function testAFrozenWorkerLosesItsJobAndDoesNotAcknowledgeItTwice(): void
    {
        $this->queue()->push(['do' => 'hold'], id: 'job', ttr: self::TTR);
        $worker = $this->worker($this->queueName, ['maxJobs' => 1], 'LeaseLost,Succeeded');
        $worker->hear('started job 1');
        $worker->signal(SIGSTOP);
        $frozen = microtime(true);
        $job = $this->queue()->reserve(20);
        $this->assertSame(['job', 2], [$job?->id, $job?->attempts]);
        $this->assertLessThan(self::TTR + self::SLACK, Machine::lasted($frozen));
        $job->ack();
        $worker->signal(SIGCONT);
        $worker->say('go');
        $said = $worker->lines();
        $this->assertContains('event LeaseLost job', $said);
        $this->assertSame(1, $this->queue()->stats()->acked);
        $this->assertSame(0, $this->queue()->count());
    }

    /** @param array<string, mixed> $options */
    private function worker(string $queue, array $options = [], string $events = ''): Worker
    {
        return $this->workers[] = new Worker($this->redis->dsn(), $queue, $options, $events);
    }
}
