<?php

declare(strict_types=1);

namespace DelayQueue\Tests\CommandLine;

use DelayQueue\JobInfo;
use DelayQueue\State;
use DelayQueue\Tests\Support\CliTestCase;
use DelayQueue\Tests\Support\Wait;

/** delayqueue work with jobs that end each worker that runs them. */
final class CliPoisonTest extends CliTestCase
{
    /** @dataProvider prefetches */
    #[\PHPUnit\Framework\Attributes\DataProvider('prefetches')]
    public function testOnlyThePoisonIsBuriedAndAJobOnItsLastAttemptRunsOnce(int $prefetch): void
    {
        $queue = $this->queue(['ttr' => 0.5]);
        $queue->push(['do' => 'kill'], id: 'last', maxAttempts: 1);
        $queue->push(['do' => 'kill'], id: 'twice', maxAttempts: 2);
        foreach (['a' => 1, 'b' => 2, 'c' => 10] as $id => $maxAttempts) {
            $queue->push([], id: $id, maxAttempts: $maxAttempts);
        }
        for ($deaths = 0; $deaths < 3; ++$deaths) {
            $worker = $this->start('work', self::HANDLER, "--prefetch=$prefetch");
            Wait::until(static fn (): bool => !$worker->isRunning(), 20, 'the death of a worker');
        }
        $worker = $this->start('work', self::HANDLER, "--prefetch=$prefetch");
        $areDone = static fn (): bool => $queue->count() === 2 && $queue->count(State::Buried) === 2;
        Wait::until($areDone, 30, 'only the poisons are left');
        $begins = array_filter($this->handled(), static fn (array $line): bool => $line[0] === 'begin');
        $begun = array_count_values(array_column($begins, 1));
        ksort($begun);
        $this->assertSame(['a' => 1, 'b' => 1, 'c' => 1, 'last' => 1, 'twice' => 2], $begun);
        // The leases may have ended, and with them the last jobs, before it hears signals.
        Wait::until(static fn (): bool => in_array($worker->pid, array_column($queue->workers(), 'pid'), true), 30, 'the worker is listed');
        $worker->signal(SIGTERM);
        $this->assertSame(0, $worker->exitCode(20), $worker->errors());
    }

    public function testAWorkerThatIsKilledCostsOnlyTheJobThatItRanAnAttempt(): void
    {
        $queue = $this->queue(['ttr' => 0.5, 'maxAttempts' => 2]);
        foreach (['a' => 'kill', 'b' => 'nothing', 'c' => 'nothing'] as $id => $do) {
            $queue->push(['do' => $do], id: $id);
        }
        $worker = $this->start('work', self::HANDLER, '--prefetch=10');
        Wait::until(static fn (): bool => !$worker->isRunning(), 20, 'the death of the worker');
        Wait::until(static fn (): bool => $queue->count(State::Ready) === 3, 20, 'the leases end');
        $past = static fn (JobInfo $job): array => [$job->attempts, $job->timeouts];
        $this->assertSame([[1, 1], [0, 1], [0, 1]], array_map($past, [...$queue->list(State::Ready)]));
    }

    /** @return array<string, array{int}> */
    public static function prefetches(): array
    {
        return ['one at a time' => [1], 'ten at a time' => [10]];
    }
}
