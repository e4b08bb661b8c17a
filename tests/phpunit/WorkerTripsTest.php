<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\State;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\Tests\Support\Worker;

/** The requests of consume() to Redis: one round trip a job or fewer, and nothing while there is nothing to do. */
final class WorkerTripsTest extends ProcessTestCase
{
    private Worker $worker;

    public function testOneRoundTripSettlesAJobAndFetchesTheNext(): void
    {
        $this->push(500);
        $before = $this->trips();
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['maxJobs' => 500]);
        $this->assertSame(0, $this->worker->exitCode(30));
        $this->assertSame(500, $this->queue()->stats()->acked);
        // Not two of them: but what a busy machine does not fetch within 50 ms is acknowledged alone.
        $this->assertLessThan(750, $this->trips() - $before);
        $this->assertGreaterThan(500, $this->trips() - $before);
    }

    public function testPrefetchedJobsComeInOrderManyATrip(): void
    {
        $this->push(500);
        $before = $this->trips();
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['maxJobs' => 500, 'prefetch' => 50]);
        $said = $this->worker->lines(30);
        $this->assertSame(0, $this->worker->exitCode());
        $this->assertSame($this->startedInOrder(1, 500), array_values(preg_grep('/^started/', $said)));
        $this->assertSame(500, $this->queue()->stats()->acked);
        // Ten to fetch and one to finish; a machine that takes more than 50 ms for a batch acknowledges in between.
        $this->assertLessThan(100, $this->trips() - $before);
    }

    public function testEachPrefetchedJobHasItsOwnLeaseAndNoneIsDeliveredAfterIt(): void
    {
        $queue = $this->queue();
        $queue->push(['do' => 'sleep', 'seconds' => 1], id: 'first');
        $queue->push([], id: 'short', ttr: 0.5);
        $queue->push([], id: 'long');
        $this->worker = new Worker(
            $this->redis->dsn(),
            $this->queueName,
            ['prefetch' => 3, 'heartbeat' => false, 'maxJobs' => 3],
        );
        $said = array_values(preg_grep('/^started/', $this->worker->lines()));
        $this->assertSame(['started first 1', 'started long 1', 'started short 1'], $said);
        $this->assertSame(3, $queue->stats()->acked);
        $this->assertSame(1, $queue->stats()->timedOut);
    }

    public function testJobsThatWereNotStartedAreGivenBackAtOnceAndUncounted(): void
    {
        $queue = $this->queue();
        $queue->push(['do' => 'hold'], id: 'job-0');
        $this->push(20);
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['prefetch' => 10]);
        $this->worker->hear('started job-0 1');
        $this->assertSame(10, $queue->count(State::Reserved));
        $this->worker->signal(SIGTERM);
        $this->worker->say('go');
        $this->worker->hear('stopped Signal');
        $this->assertSame(0, $queue->count(State::Reserved));
        $this->assertSame(20, $queue->count(State::Ready));
        for ($n = 1; $n <= 20; $n++) {
            $this->assertSame(0, $queue->peek("job-$n")->attempts);
        }
        $this->assertSame('job-1', $queue->reserve()->id, 'in their old place');
    }

    public function testGivingBackAWholeBatchTakesOneScript(): void
    {
        $this->queue()->push(['do' => 'hold'], id: 'held');
        $this->push(600);
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['prefetch' => 500]);
        $this->worker->hear('started held 1');
        $this->assertSame(500, $this->queue()->count(State::Reserved));
        $before = $this->trips();
        $this->worker->signal(SIGTERM);
        $this->worker->say('go');
        $this->worker->hear('stopped Signal');
        // One acknowledges, one gives back; each is sent twice where Redis does not know it yet.
        $this->assertLessThanOrEqual(4, $this->trips() - $before);
        $this->assertSame([600, 1], [$this->queue()->count(State::Ready), $this->queue()->stats()->acked]);
        $this->assertSame('job-1', $this->queue()->reserve()->id, 'in their old place');
    }

    public function testADoneJobIsAcknowledgedWhileTheNextHandlerRuns(): void
    {
        $queue = $this->queue();
        $queue->push([], id: 'quick');
        $queue->push(['do' => 'hold'], id: 'held');
        foreach ([['prefetch' => 2], ['prefetch' => 2, 'heartbeat' => false]] as $options) {
            $acked = $queue->stats()->acked;
            $this->worker = new Worker($this->redis->dsn(), $this->queueName, $options + ['maxJobs' => 2], 'LeaseLost');
            $this->worker->hear('started held 1');
            Wait::until(static fn () => $queue->stats()->acked === $acked + 1, 5, 'it is acknowledged');
            $this->assertNull($queue->peek('quick'));
            $this->worker->say('go');
            $this->assertSame(['ended held', 'stopped MaxJobs'], $this->worker->lines());
            $this->assertSame($acked + 2, $queue->stats()->acked);
            $queue->push([], id: 'quick');
            $queue->push(['do' => 'hold'], id: 'held');
        }
    }

    public function testAnIdleWorkerRunsNoScripts(): void
    {
        $this->push(1);
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['idleTimeout' => 0.5], 'Idle');
        foreach (['ended job-1', 'event Idle', 'event Idle'] as $line) {
            $this->worker->hear($line);
        }
        $this->assertSame(1, $this->redis->waiters($this->queueName), 'it waits');
        $this->assertQuiet();
        for ($n = 0; $n < 5; $n++) {
            $this->worker->hear('event Idle');
        }
        $this->assertSame(1, $this->queue()->stats()->acked, 'what is done is acknowledged before the wait');
    }

    public function testAPausedQueueIsWaitedForWithoutPolling(): void
    {
        $queue = $this->queue();
        $queue->pause();
        $this->push(1);
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, ['idleTimeout' => 60, 'maxJobs' => 1]);
        Wait::until(fn () => $this->redis->waiters($this->queueName) === 1, 5, 'it waits');
        $this->assertQuiet();
        $queue->resume();
        $resumed = microtime(true);
        $this->worker->hear('started job-1 1');
        $this->assertLessThan(3.0, Machine::lasted($resumed), 'woken, not found by a look');
    }

    /** A waiter checks its queues every four to five seconds by two plain commands, and reserves after two minutes. */
    private function assertQuiet(): void
    {
        [$trips, $checks] = [$this->trips(), $this->redis->calls('time')];
        Wait::until(fn () => $this->redis->calls('time') >= $checks + 2, 15, 'it checks');
        $this->assertSame($trips, $this->trips());
    }

    private function push(int $count): void
    {
        $this->queue()->pushMany(array_map(static fn (int $n) => ['payload' => [], 'id' => "job-$n"], range(1, $count)));
    }

    /** @return list<string> */
    private function startedInOrder(int $first, int $last): array
    {
        return array_map(static fn (int $n) => "started job-$n 1", range($first, $last));
    }

    private function trips(): int
    {
        return $this->redis->calls('eval') + $this->redis->calls('evalsha');
    }
}
