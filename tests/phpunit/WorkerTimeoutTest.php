<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Processes;

use DelayQueue\State;
use DelayQueue\Tests\Support\ProcessTestCase;
use DelayQueue\Tests\Support\Worker;

/** A handler that runs for too long is ended: by an exception where PHP runs, by the end of the process where it is stuck. */
final class WorkerTimeoutTest extends ProcessTestCase
{
    private const WITHOUT_PCNTL = ['disable_functions' => 'pcntl_signal,pcntl_async_signals,pcntl_signal_dispatch,pcntl_alarm'];

    private Worker $worker;

    /**
     * @dataProvider deeds
     *
     * @param list<string> $says
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('deeds')]
    public function testTheTimeoutIsThrownIntoTheHandler(string $deed, array $says, string $lastError): void
    {
        $this->queue()->push(['do' => $deed], id: 'slow');
        $this->queue()->push([], id: 'behind');
        $started = microtime(true);
        $this->start(['timeout' => 1, 'maxJobs' => 2]);
        $this->assertSame(
            ['started slow 1', ...$says, 'event TimedOut slow DelayQueue\TimeoutException',
                'event Failed slow DelayQueue\TimeoutException', 'started behind 1', 'ended behind', 'stopped MaxJobs'],
            $this->worker->lines(),
        );
        $this->assertGreaterThan(1.0, microtime(true) - $started);
        $this->assertSame(0, $this->worker->exitCode());
        $this->assertSame('', $this->worker->errors());
        $job = $this->queue()->peek('slow');
        $this->assertSame([State::Delayed, 1, $lastError], [$job->state, $job->attempts, $job->lastError]);
    }

    /** @return array<string, array{string, list<string>, string}> */
    public static function deeds(): array
    {
        return [
            'an endless loop' => ['loop', ['ended slow'], 'timed out after 1 s'],
            'sleep(100)' => ['sleep long', ['ended slow'], 'timed out after 1 s'],
            'finally blocks' => ['finally', ['finally', 'ended slow'], 'timed out after 1 s'],
        ];
    }

    public function testAHandlerMayCatchItAndGoOn(): void
    {
        $this->queue()->push(['do' => 'catch'], id: 'slow');
        $this->start(['timeout' => 0.5, 'maxJobs' => 1]);
        $this->assertSame(
            ['started slow 1', 'caught timed out after 0.5 s', 'ended slow', 'stopped MaxJobs'],
            $this->worker->lines(),
        );
        $this->assertSame(1, $this->queue()->stats()->acked);
    }

    public function testAProcessThatIsStuckIsEndedAndItsJobFailed(): void
    {
        $this->queue()->push(['do' => 'stick'], id: 'stuck', maxAttempts: 1);
        $this->queue()->push([], id: 'behind');
        $this->start(['timeout' => 0.5, 'graceTimeout' => 0.5, 'prefetch' => 2]);
        $this->assertSame(124, $this->worker->exitCode());
        $this->assertSame(['started stuck 1'], $this->worker->lines());
        $this->assertStringContainsString(
            "delayqueue: job 'stuck' of queue '$this->queueName' timed out after 0.5 s and did not stop; the process ends with 124",
            $this->worker->errors(),
        );
        $job = $this->queue()->peek('stuck');
        $this->assertSame([State::Buried, 1, 'timed out after 0.5 s'], [$job->state, $job->attempts, $job->lastError]);
    }

    public function testAnEndlessLoopThatSwallowsEverythingIsEndedToo(): void
    {
        $this->queue()->push(['do' => 'swallow'], id: 'stuck');
        $this->start(['timeout' => 0.3, 'graceTimeout' => 0.7]);
        $this->assertSame(124, $this->worker->exitCode());
        $this->assertSame('timed out after 0.3 s', $this->queue()->peek('stuck')->lastError);
    }

    public function testJobsBringTimeoutsOfTheirOwnWhichHitNoOtherJob(): void
    {
        for ($n = 0; $n < 40; $n++) {
            $this->queue()->push(['do' => $n % 2 === 0 ? 'loop' : null], id: "job-$n", timeout: $n % 2 === 0 ? '20ms' : '30s');
        }
        $this->start(['timeout' => 60, 'maxJobs' => 40]);
        $said = $this->worker->lines(30);
        $this->assertSame(0, $this->worker->exitCode());
        $this->assertCount(20, preg_grep('/^event TimedOut/', $said));
        $this->assertSame([20, 20], [$this->queue()->stats()->acked, $this->queue()->stats()->failed]);
        $this->assertSame('timed out after 0.02 s', $this->queue()->peek('job-0')->lastError);
    }

    /** @param array<string, mixed> $options */
    private function start(array $options): void
    {
        $this->worker = new Worker($this->redis->dsn(), $this->queueName, $options, 'TimedOut,Failed', self::WITHOUT_PCNTL);
    }
}
