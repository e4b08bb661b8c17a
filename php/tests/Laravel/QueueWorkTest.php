<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\ExtendedDeed;
use DelayQueue\Tests\Laravel\Support\WorkerTests;
use DelayQueue\Tests\Support\Process;
use DelayQueue\Tests\Support\Wait;
use DelayQueue\WorkerOrder;

/** queue:work. */
final class QueueWorkTest extends WorkerTests
{
    protected const WORK = ['queue:work'];

    public function testOtherConnectionsAreWorkedAsEver(): void
    {
        $this->boot(['retry_after' => 30]);
        dispatch((new Deed('elsewhere'))->onConnection('redis'));
        $worker = $this->start('queue:work', 'redis', '--stop-when-empty', '--sleep=0');
        $this->assertSame(0, $worker->exitCode(20));
        $this->awaitLine('/^end elsewhere/');
    }

    public function testOnceWaitsForAJobAndRunsIt(): void
    {
        $this->boot(['block_for' => 20]);
        $worker = $this->startWaiting('queue:work', '--once');
        Deed::dispatch('single');
        $this->assertSame(0, $worker->exitCode(10));
        $this->assertSame(1, $this->lines('/^end single/'));
    }

    public function testAWorkerWithoutBlockForWaitsWhereItWouldSleep(): void
    {
        $this->boot(['block_for' => null]);
        $this->startWaiting('queue:work', '--sleep=20');
        Deed::dispatch('awake');
        $this->awaitLine('/^end awake/', 10);
    }

    public function testAnOutageOfRedisDoesNotEndAWorker(): void
    {
        $this->boot(['dsn' => 'redis://127.0.0.1:1/0']);
        $worker = $this->start('queue:work');
        Wait::until(fn (): bool => substr_count($this->log(), 'ConnectionException') >= 2, 20, 'two reports of the outage');
        $this->assertTrue($worker->isRunning());
    }

    public function testOneWaitLastsForManyRoundsAndListenersOfLoopingMayEndIt(): void
    {
        $this->boot(['block_for' => 1]);
        $this->startWaiting('queue:work', '--sleep=1');
        $redis = $this->app['redis']->connection()->client();
        $scripts = static function () use ($redis): int {
            preg_match('/calls=(\d+)/', $redis->info('commandstats')['cmdstat_evalsha'], $found);

            return (int) $found[1];
        };
        $before = $scripts();
        // Three rounds.
        usleep(3_500_000);
        $this->assertSame($before, $scripts());

        file_put_contents($this->app->storagePath() . '/framework/down', '{}');
        Wait::until(static fn (): bool => $redis->zCard('test_dq:{default}:waiters') === 0, 10, 'no worker that waits');
    }

    public function testPausedAndResumedBySignals(): void
    {
        $this->boot(['block_for' => 60]);
        $worker = $this->startWaiting('queue:work', '--sleep=1');
        $worker->signal(SIGUSR2);
        Wait::until(fn (): bool => $this->app['redis']->connection()->client()->zCard('test_dq:{default}:waiters') === 0, 10, 'no worker that waits');
        Deed::dispatch('later');
        $worker->signal(SIGCONT);
        $this->awaitLine('/^end later/');
    }

    public function testAWorkerIsListedObeysOrdersAndLeavesTheListHoweverItEnds(): void
    {
        $this->boot(['block_for' => 60]);
        $killed = $this->start('queue:work', '--queue=others');
        $worker = $this->start('queue:work', '--queue=high,low', '--sleep=1');
        $this->awaitWaiter('low');
        $entry = Wait::promised(fn (): ?array => $this->listed($worker), 1, 'its entry in the list');
        $this->assertSame(['laravel', ['high', 'low'], 'idle'], [$entry['kind'], $entry['queues'], $entry['state']]);
        Wait::until(fn (): bool => $this->listed($killed) !== null, 10, 'the entry of the other');
        $killed->kill();
        $killedAt = microtime(true);

        $tell = fn (WorkerOrder $order): int => $this->queue()->native()->tellWorkers($order, $entry['host'], $worker->pid);
        $this->assertSame(1, $tell(WorkerOrder::Pause));
        Wait::promised(fn (): bool => $this->listed($worker)['state'] === 'paused', 12, 'a worker that is paused');
        Wait::promised(fn (): bool => $this->listed($killed) === null, 28, 'the entry of one that was killed to end', $killedAt);
        Deed::dispatch('later')->onQueue('low');
        usleep(1_500_000);
        $this->assertSame(0, $this->lines('/^begin later/'));
        $tell(WorkerOrder::Resume);
        $this->awaitLine('/^end later/', 20);
        $tell(WorkerOrder::Restart);
        Wait::promised(static fn (): bool => !$worker->isRunning(), 12, 'one that makes place for a new process');
        $this->assertSame(0, $worker->exitCode());
        $this->assertNull($this->listed($worker), 'one that ends is off the list at once');
        $this->assertSame(1, $this->queue()->native()->tasks()[Deed::class]['runs'], 'it has counted its job');

        $worker = $this->start('queue:work', '--queue=high');
        Wait::until(fn (): bool => $this->listed($worker) !== null, 10, 'its entry in the list');
        $tell = fn (WorkerOrder $order): int => $this->queue()->native()->tellWorkers($order, $entry['host'], $worker->pid);
        $tell(WorkerOrder::Stop);
        Wait::promised(static fn (): bool => !$worker->isRunning(), 12, 'one that ends');
        $this->assertSame(0, $worker->exitCode());
    }

    public function testAJobThatExtendsItsTimeLimitWithAnAlarmKeepsItsLease(): void
    {
        $this->boot(['retry_after' => 1]);
        $this->startWaiting(...self::WORK);
        $job = new ExtendedDeed('extended', 4);
        $job->timeout = 1;
        dispatch($job);
        $this->awaitLine('/^begin extended 1/');
        $taken = null;
        $isOver = function () use (&$taken): bool {
            return ($taken ??= $this->queue()->pop()) !== null || $this->lines('/^end extended/') > 0;
        };
        Wait::until($isOver, 20, 'the end of the job');
        $this->assertNull($taken, 'nobody else gets the job');
        Wait::until(fn (): bool => $this->queue()->size() === 0, 10, 'an empty queue');
        $this->assertSame(1, $this->lines('/^end extended 1/'));
    }

    /** @return array<string, mixed>|null its entry in the list of workers */
    private function listed(Process $worker): ?array
    {
        $entries = $this->queue()->native()->workers();

        return array_values(array_filter($entries, static fn (array $entry): bool => $entry['pid'] === $worker->pid))[0] ?? null;
    }

    /** Its time limit ends the process. */
    protected function supervise(): void
    {
        $first = $this->start(...self::WORK);
        Wait::until(static fn (): bool => !$first->isRunning(), 20, 'the end of the first worker');
        $this->assertSame(SIGKILL, $first->endedBy());
        $this->start(...self::WORK);
    }
}
