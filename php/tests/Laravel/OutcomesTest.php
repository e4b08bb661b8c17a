<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Laravel;

use DelayQueue\State;
use DelayQueue\Stats;
use DelayQueue\Tests\Laravel\Support\Deed;
use DelayQueue\Tests\Laravel\Support\LaravelTestCase;
use DelayQueue\Tests\Support\Wait;

/** The numbers of a queue tell what became of the runs of Laravel's jobs. */
final class OutcomesTest extends LaravelTestCase
{
    public function testFailedRunsCountAsFailedWithQueueWork(): void
    {
        $this->runsCount('queue:work');
    }

    public function testFailedRunsCountAsFailedWithTheExtensionsLoop(): void
    {
        $this->runsCount('delayqueue:work');
    }

    public function testAFailedJobThatIsBuriedCountsAsFailed(): void
    {
        foreach (['queue:work', 'delayqueue:work'] as $command) {
            $this->boot(['bury_failed' => true, 'block_for' => 0]);
            $this->queue()->native()->purge();
            $before = $this->queue()->stats()->failed;
            $job = new Deed('hopeless', 0, 'throw');
            $job->tries = 2;
            dispatch($job);
            $worker = $this->start($command, '--stop-when-empty');
            $this->assertSame(0, $worker->exitCode(20));
            $stats = $this->queue()->stats();
            $this->assertSame([$before + 2, 0, 0, 1], [$stats->failed, $stats->acked, $stats->runTimes()['buried']['count'], $stats->buried], $command);
            $this->assertStringStartsWith('RuntimeException: hopeless went wrong', (string) $this->queue()->native()->peekBuried()?->lastError);
        }
    }

    public function testARunThatExceedsItsTimeCountsAsFailed(): void
    {
        $this->boot(['retry_after' => 600]);
        $job = new Deed('endless', 30);
        $job->timeout = 1;
        $job->tries = 2;
        $job->backoff = 3600;
        $id = $this->queue()->push($job);
        foreach (['queue:work', 'delayqueue:work'] as $attempt => $command) {
            $this->start($command);
            Wait::until(fn (): bool => $this->queue()->stats()->failed === $attempt + 1, 20, "the failed run of $command");
            if ($attempt === 0) {
                $this->assertSame([State::Delayed, 1, 'timed out after 1 s'], [$this->queue()->find($id)?->state, $this->queue()->find($id)?->attempts, $this->queue()->find($id)?->lastError]);
                $this->queue()->native()->kickJob($id, resetAttempts: false);
            }
        }
        $this->assertSame([0, 0], [$this->queue()->size(), $this->queue()->stats()->acked]);
    }

    private function runsCount(string $command): void
    {
        foreach (['hopeless', 'vain', 'futile'] as $name) {
            $job = new Deed($name, 0, 'throw');
            $job->tries = 2;
            dispatch($job);
        }
        Deed::dispatch('second time lucky', 0, 'throw once');
        Deed::dispatch('polite', 0, 'release');
        Deed::dispatch('given up', 0, 'fail');
        $waits = new Deed('waits', 0, 'throw');
        $waits->backoff = 600;
        $id = $this->queue()->push($waits);
        $worker = $this->start($command, '--stop-when-empty');
        $this->assertSame(0, $worker->exitCode(30));

        // Three jobs twice, one once, one that gave up, one that waits for its next try; two jobs are done, one of them was released.
        $stats = $this->queue()->stats();
        $this->assertSame([9, 2, 7, 1], [$stats->failed, $stats->acked, $stats->pushed, $this->queue()->size()]);
        $this->assertSame(['acked' => 2, 'failed' => 9, 'released' => 1, 'buried' => 0, 'timed_out' => 0], self::runs($stats));
        $page = $stats->toPrometheus();
        $this->assertStringContainsString('delayqueue_failed_total{queue="default"} 9', $page);
        $this->assertStringContainsString('delayqueue_acked_total{queue="default"} 2', $page);
        $this->assertStringContainsString('delayqueue_run_seconds_count{queue="default",outcome="failed"} 9', $page);
        $info = $this->queue()->find($id);
        $this->assertSame([1, 'RuntimeException: waits went wrong'], [$info?->attempts, strtok((string) $info?->lastError, "\n")]);
    }

    /** @return array<string, int> */
    private static function runs(Stats $stats): array
    {
        return array_map(static fn (array $times): int => $times['count'], $stats->runTimes());
    }
}
