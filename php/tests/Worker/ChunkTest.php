<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use DelayQueue\Bury;
use DelayQueue\Event;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\State;
use DelayQueue\Testing\InteractsWithDelayQueue;
use PHPUnit\Framework\TestCase;
use Throwable;

final class ChunkTest extends TestCase
{
    use ChunkRules;
    use InteractsWithDelayQueue;

    public function testItServesSealedJobsOfAQueueWithPartitionsAndAPrefix(): void
    {
        $options = ['partitions' => 3, 'prefix' => 'shop', 'keys' => ['2030' => str_repeat('k', 32)], 'persistent' => false];
        $queue = $this->delayQueue('default', $options);
        $queue->pushMany(array_map(static fn (int $n): array => ['payload' => $n, 'group' => 'group-' . $n % 5], range(1, 40)));
        $payloads = [];

        $this->chunk(10, static function (array $jobs) use (&$payloads): void {
            array_push($payloads, ...array_column($jobs, 'payload'));
        })->consume($queue, stopWhenEmpty: true);

        sort($payloads);
        $this->assertSame(range(1, 40), $payloads);
        $this->assertSame([10, 10, 10, 10], array_map(count(...), $this->calls));
        $this->assertCount(0, $queue);
    }

    public function testAJobThatTheLoopCannotDecodeIsToldAsBuried(): void
    {
        $queue = $this->filled(0);
        $queue->sibling('default', ['format' => 'raw'])->push('{garbage', id: 'garbage');
        $chunk = $this->chunk(10);
        $told = [];
        $chunk->on(Event::Buried, static function (Event $event, ?JobInterface $job, ?Throwable $error) use (&$told): void {
            $told[] = [$job?->id, $error?->getMessage()];
        });

        $chunk->consume($queue, stopWhenEmpty: true);
        $this->assertSame(State::Buried, $queue->peek('garbage')->state);
        $this->assertCount(1, $told);
        $this->assertSame('garbage', $told[0][0]);
        $this->assertStringContainsString('payload is not valid JSON', $told[0][1]);

        $queue->push('x', id: 'x');
        $queue->consume(static fn () => throw new Bury('no'), stopWhenEmpty: true);
        $this->assertCount(1, $told, 'that was no job of the chunk');
    }

    public function testAJobPushedWhileAChunkFillsIsInIt(): void
    {
        $queue = $this->filled(1);
        $chunk = $this->chunk(2, within: '30s');
        // A signal handler pushes it while the first job waits.
        $chunk->on(Event::WorkerReady, function () use ($queue): void {
            $pushed = $queue->sibling('default');
            pcntl_async_signals(true);
            pcntl_signal(SIGALRM, static fn () => $pushed->push('x', id: 'second'));
            pcntl_alarm(1);
        });
        try {
            $chunk->consume($queue, maxJobs: 2);
        } finally {
            pcntl_alarm(0);
            pcntl_signal(SIGALRM, SIG_DFL);
        }
        $this->assertSame([['job-1', 'second']], $this->calls);
    }

    protected function chunkQueue(string $name = 'default'): QueueInterface
    {
        return $this->delayQueue($name);
    }
}
