<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work --shutdown-timeout: a worker that is told to end is gone in time, and its job is ready again, uncounted. */
final class CliShutdownTest extends CliTestCase
{
    public function testAStuckWorkerEndsWith124AndItsJobsAreReadyAgainAtOnce(): void
    {
        $this->queue()->push(['do' => 'stick'], id: 'stuck');
        $this->queue()->push([], id: 'behind');
        $worker = $this->start('work', self::HANDLER, '--prefetch=2', '--shutdown-timeout=300ms', '--grace-timeout=300ms');
        $this->holder('stuck');
        $worker->signal(SIGTERM);
        $this->assertSame(124, $worker->exitCode(20), $worker->errors());
        $this->assertGoesOn('stuck', 'behind');
    }

    public function testAPoolWaitsForItsWorkersAndSaysWhichOneWasStuck(): void
    {
        $this->queue()->push(['do' => 'wait'], id: 'waits');
        $this->queue()->push(['do' => 'stick'], id: 'stuck');
        $pool = $this->start('work', self::HANDLER, '--processes=2', '--shutdown-timeout=500ms', '--grace-timeout=500ms', '--log=json');
        [$waiting, $stuck] = [$this->holder('waits'), $this->holder('stuck')];
        $pool->signal(SIGTERM);
        $this->assertSame(0, $pool->exitCode(20), $pool->errors());
        $this->assertStringContainsString("(process $stuck) ended with exit code 124: its handler did not stop while it ran job stuck of $this->queueName, attempt 1 of 10\"", $pool->errors());
        $this->assertStringContainsString("(process $waiting) ended with exit code 0\"", $pool->errors());
        $words = "delayqueue: job 'stuck' of queue '$this->queueName' was still running 0.5 s after the signal to end and did not stop";
        $this->assertStringContainsString("$words; the process ends with 124\n", $pool->errors());
        $line = json_decode($pool->rest(), true);
        $this->assertSame(['waits', 'released'], [$line['id'], $line['outcome']]);
        $this->assertSame('DelayQueue\ShutdownException: still running 0.5 s after the signal to end', $line['reason']);
        $this->assertGoesOn('waits', 'stuck');
    }

    public function testAWorkerWhoseJobHasTakenTheSignalsOfItsProcessIsStoppedInGoodOrder(): void
    {
        $this->queue()->push(['do' => 'take signals'], id: 'taker');
        $this->queue()->push(['do' => 'wait'], id: 'waits', delay: 0.001);
        $pool = $this->start('work', self::HANDLER, '--processes=2', '--prefetch=1');
        Wait::until(fn (): bool => $this->queue()->stats()->acked === 1, 20, 'the signals are taken');
        $this->queue()->push(['do' => 'wait'], id: 'waits-too');
        [$one, $other] = [$this->holder('waits'), $this->holder('waits-too')];
        // That is for the parent alone.
        array_map(static fn (int $worker) => posix_kill($worker, SIGHUP), [$one, $other]);
        $pool->signal(SIGTERM);
        array_map($this->letGo(...), ['waits', 'waits-too']);
        $this->assertSame(0, $pool->exitCode(20), $pool->errors());
        $this->assertStringNotContainsString('killed by signal', $pool->errors());
        $this->assertSame(3, $this->queue()->stats()->acked);
    }

    public function testABadDurationIsWrongUsage(): void
    {
        foreach (['-1', '101y', 'soon'] as $wrong) {
            $this->assertStringContainsString('shutdown-timeout must ', $this->cliExpecting(2, 'work', self::HANDLER, "--shutdown-timeout=$wrong"));
        }
    }

    private function assertGoesOn(string ...$ids): void
    {
        foreach ($ids as $id) {
            $job = $this->queue()->peek($id);
            $this->assertSame([State::Ready, 0, null], [$job->state, $job->attempts, $job->lastError], $id);
        }
    }
}
