<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Worker;

use Closure;
use DelayQueue\Backoff;
use DelayQueue\Bury;
use DelayQueue\Event;
use DelayQueue\JobInterface;
use DelayQueue\QueueInterface;
use DelayQueue\RateLimited;
use DelayQueue\Release;
use DelayQueue\ShutdownException;
use DelayQueue\State;
use DelayQueue\StopReason;
use DelayQueue\Tests\OnAnyStore;
use DelayQueue\Tests\Support\Machine;
use DelayQueue\Worker\Chunk;
use PHPUnit\Framework\TestCase;
use RuntimeException;
use Throwable;
use ValueError;

final class ChunkTest extends TestCase
{
    use OnAnyStore;

    /** @var list<list<string>> the ids that each call of a handler got */
    private array $calls = [];

    public function testReadyJobsComeInOneCallAndAreDone(): void
    {
        $queue = $this->filled(7);

        $reason = $this->chunk(3)->consume($queue, stopWhenEmpty: true);

        $this->assertSame(StopReason::Empty, $reason);
        $this->assertSame([['job-1', 'job-2', 'job-3'], ['job-4', 'job-5', 'job-6'], ['job-7']], $this->calls);
        $this->assertSame([0, 7], [$queue->count(), $queue->stats()->acked]);
    }

    /**
     * In memory nothing is waited for that nobody else can push.
     *
     * @group redis
     */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
    public function testTheFirstJobWaitsForOthersNoLongerThanItMay(): void
    {
        $queue = $this->filled(1);
        $queue->push('x', id: 'soon', delay: '50ms');
        $queue->push('x', id: 'later', delay: '1h');

        $began = microtime(true);
        $this->chunk(10, within: '30s')->consume($queue, maxJobs: 2);
        $this->assertSame([['job-1', 'soon']], $this->calls);
        $this->assertLessThan(15.0, Machine::lasted($began), 'with all the jobs that it may take it does not wait');

        $queue->push('x', id: 'alone');
        $began = microtime(true);
        $this->chunk(10, static function (array $jobs, QueueInterface $queue): void {
            $queue->stop();
        }, within: '100ms')->consume($queue);
        $this->assertSame(['alone'], end($this->calls));
        $this->assertGreaterThan(0.09, microtime(true) - $began);
    }

    public function testTheMostJobsAreCountedOneByOne(): void
    {
        $queue = $this->filled(6);

        $this->assertSame(StopReason::MaxJobs, $this->chunk(4)->consume($queue, maxJobs: 5));
        $this->assertSame([['job-1', 'job-2', 'job-3', 'job-4'], ['job-5']], $this->calls);
        $this->assertSame(StopReason::Stopped, $this->chunk(4, static fn (array $jobs, QueueInterface $queue) => $queue->stop())->consume($queue));
    }

    public function testAnArrayAnswersForEachJob(): void
    {
        $queue = $this->filled(0);
        foreach (['done', 'left out', 'null', 'failed', 'thrown', 'released', 'buried', 'acked', '7'] as $id) {
            $queue->push('x', id: $id, backoff: Backoff::fixed('1h'));
        }
        $chunk = $this->chunk(10, static function (array $jobs): array {
            array_values(array_filter($jobs, static fn (JobInterface $job): bool => $job->id === 'acked'))[0]->ack();

            return ['done' => true, 'null' => null, 'failed' => false, 'thrown' => new RuntimeException('no'), 'released' => new Release('2h'),
                'buried' => new Bury('never'), 'acked' => false, 7 => false];
        });
        $heard = $this->heard($chunk);

        $chunk->consume($queue, stopWhenEmpty: true);

        $states = [];
        foreach (['done', 'left out', 'null', 'failed', 'thrown', 'released', 'buried', 'acked', '7'] as $id) {
            $states[$id] = $queue->peek($id)?->state;
        }
        $this->assertSame([
            'done' => null, 'left out' => null, 'null' => null, 'failed' => State::Delayed, 'thrown' => State::Delayed, 'released' => State::Delayed,
            'buried' => State::Buried, 'acked' => null, 7 => State::Delayed,
        ], $states);
        $this->assertSame('never', $queue->peek('buried')->lastError);
        $this->assertSame('the handler returned false', $queue->peek('failed')->lastError);
        $this->assertStringStartsWith('RuntimeException: no', $queue->peek('thrown')->lastError);
        $this->assertSame([3, 1], [$queue->stats()->failed, $queue->peek('released')->releases]);
        $this->assertSame(['done' => 'succeeded', 'left out' => 'succeeded', 'null' => 'succeeded', 'failed' => 'failed', 'thrown' => 'failed',
            'released' => 'released', 'buried' => 'buried', 7 => 'failed'], $heard->outcomes);
        $this->assertSame(9, $heard->begun);
    }

    /** @return array<string, array{Closure(): mixed, State, string, string}> */
    public static function wholeAnswers(): array
    {
        return [
            'false' => [static fn (): bool => false, State::Delayed, 'failed', 'the handler returned false'],
            'an exception' => [static fn () => throw new RuntimeException('no'), State::Delayed, 'failed', 'RuntimeException: no'],
            'a returned exception' => [static fn () => new Bury('never'), State::Buried, 'buried', 'never'],
            'Bury' => [static fn () => throw new Bury('never'), State::Buried, 'buried', 'never'],
            'a key that is no id' => [static fn (): array => ['job-9' => false], State::Delayed, 'failed', 'UnexpectedValueException: the handler of a chunk must return an array by ids of its jobs; \'job-9\' is none of them'],
            'a generator' => [static function (): iterable {
                yield 'job-1' => true;
            }, State::Delayed, 'failed', 'UnexpectedValueException: the handler of a chunk must return an array, and not yield'],
            'a list' => [static fn (): array => [true, true], State::Delayed, 'failed', 'UnexpectedValueException: '],
        ];
    }

    /**
     * @dataProvider wholeAnswers
     *
     * @param Closure(): mixed $answer
     */
    #[\PHPUnit\Framework\Attributes\DataProvider('wholeAnswers')]
    public function testOneAnswerIsForAllJobs(Closure $answer, State $state, string $outcome, string $error): void
    {
        $queue = $this->filled(2);
        $chunk = $this->chunk(5, $answer);
        $heard = $this->heard($chunk);

        $chunk->consume($queue, stopWhenEmpty: true);

        $this->assertSame(['job-1' => $outcome, 'job-2' => $outcome], $heard->outcomes);
        foreach (['job-1', 'job-2'] as $id) {
            $this->assertSame($state, $queue->peek($id)->state);
            $this->assertStringStartsWith($error, $queue->peek($id)->lastError);
        }
    }

    /** @dataProvider shortLimits */
    #[\PHPUnit\Framework\Attributes\DataProvider('shortLimits')]
    public function testAChunkOfJobsWithAShortTimeLimitReachesItsHandler(?string $own, string $timeout): void
    {
        $queue = $this->delayQueue();
        foreach (['a', 'b'] as $id) {
            $queue->push('x', id: $id, timeout: $own);
        }
        $this->chunk(10, static fn (array $jobs, QueueInterface $queue) => $queue->stop(), within: '30s')->consume($queue, timeout: $timeout);

        $this->assertSame([['a', 'b']], $this->calls);
        $this->assertSame([0, 2], [$queue->count(), $queue->stats()->acked]);
    }

    /** @return array<string, array{string|null, string}> */
    public static function shortLimits(): array
    {
        return ['of the job' => ['600ms', '0'], 'of the worker' => [null, '600ms']];
    }

    public function testNoJobIsBuriedBecauseOfAnotherOne(): void
    {
        $queue = $this->filled(0);
        foreach (['a', 'poison', 'b'] as $id) {
            $queue->push($id, id: $id, maxAttempts: 2, backoff: Backoff::fixed('1m'));
        }
        $chunk = $this->chunk(10, static fn (array $jobs) => in_array('poison', array_column($jobs, 'payload'), true) ? throw new RuntimeException('no') : null);
        $heard = $this->heard($chunk);

        $chunk->consume($queue, stopWhenEmpty: true);
        $this->travel('61s');
        $chunk->consume($queue, stopWhenEmpty: true);

        $this->assertSame([['a', 'poison', 'b'], ['a'], ['poison'], ['b']], $this->calls);
        $this->assertSame([1, State::Buried], [$queue->count(), $queue->peek('poison')->state]);
        $this->assertSame(['a' => 'succeeded', 'poison' => 'buried', 'b' => 'succeeded'], $heard->outcomes);
    }

    public function testAJobWhoseLeaseEndedOnceComesAlone(): void
    {
        $queue = $this->filled(3);
        $queue->push('x', id: 'before', ttr: 5, delay: '1s');
        $this->travel('2s');
        $queue->reserveJob('before');
        $this->travel('1h');
        foreach (['job-1', 'job-2', 'job-3'] as $id) {
            $queue->reschedule($id, 0);
        }

        $this->chunk(10)->consume($queue, stopWhenEmpty: true);
        $this->assertSame([['before'], ['job-1', 'job-2', 'job-3']], $this->calls, 'it was the first');

        $this->calls = [];
        $queue->push('x', id: 'fresh', priority: 1);
        $queue->push('x', id: 'killer', ttr: 5);
        $queue->reserveJob('killer');
        $this->travel('6s');
        $this->chunk(10)->consume($queue, stopWhenEmpty: true);
        $this->assertSame([['fresh'], ['killer']], $this->calls, 'it would have been the second');
    }

    public function testRateLimitedClosesTheQueueAndCountsNoAttempt(): void
    {
        $queue = $this->filled(3);
        $chunk = $this->chunk(10, static fn () => throw new RateLimited('30s'));
        $heard = $this->heard($chunk);

        $chunk->consume($queue, stopWhenEmpty: true);

        $this->assertTrue($queue->isPaused());
        $this->assertSame([3, 0], [$queue->count(State::Ready), $queue->peek('job-2')->attempts]);
        $this->assertSame(['released'], array_values(array_unique($heard->outcomes)));
    }

    public function testAShutdownGivesAllBackUncounted(): void
    {
        $queue = $this->filled(2);
        $chunk = $this->chunk(10, static function (array $jobs, QueueInterface $queue): void {
            $queue->stop();
            throw new RuntimeException('I was interrupted', 0, new ShutdownException());
        });
        $chunk->consume($queue);
        $this->assertSame([2, 0, 0], [$queue->count(State::Ready), $queue->peek('job-1')->attempts, $queue->peek('job-2')->attempts]);
    }

    public function testAJobThatWasCancelledMeanwhileIsLostAndTheOthersAreDone(): void
    {
        $queue = $this->filled(3);
        $chunk = $this->chunk(10, function (array $jobs, QueueInterface $queue): void {
            $queue->cancel('job-2');
        });
        $heard = $this->heard($chunk);

        $chunk->consume($queue, stopWhenEmpty: true);

        $this->assertSame(['job-1' => 'succeeded', 'job-2' => 'leaseLost', 'job-3' => 'succeeded'], $heard->outcomes);
        $this->assertSame([0, 2], [$queue->count(), $queue->stats()->acked]);
    }

    public function testAChunkHasJobsOfOneQueue(): void
    {
        [$orders, $mails] = [$this->delayQueue('orders'), $this->delayQueue('mails')];
        foreach ([1, 2] as $n) {
            $orders->push('x', id: "order-$n");
            $mails->push('x', id: "mail-$n");
        }
        $orders->watch('mails', 'orders');

        $this->chunk(10)->consume($orders, stopWhenEmpty: true);

        $this->assertSame([['mail-1', 'mail-2'], ['order-1', 'order-2']], $this->calls);
    }

    public function testListenersOfTheWorkerAreToldOnceHoweverOftenTheChunkRuns(): void
    {
        $queue = $this->filled(1);
        $told = [];
        $chunk = $this->chunk(3);
        foreach ([Event::WorkerStarting, Event::WorkerReady, Event::WorkerStopping] as $event) {
            $chunk->on($event, static function (Event $event) use (&$told): void {
                $told[] = $event;
            });
        }
        $chunk->consume($queue, stopWhenEmpty: true);
        $chunk->consume($queue, stopWhenEmpty: true);
        $this->assertSame([Event::WorkerStarting, Event::WorkerReady, Event::WorkerStopping, Event::WorkerStarting, Event::WorkerReady, Event::WorkerStopping], $told);
    }

    public function testWrongArgumentsAreRefusedBeforeAnythingRuns(): void
    {
        $wrong = [
            'Argument #1 ($size) must be between 1 and 500' => [static fn () => Chunk::of(0, 0, 'count'), static fn () => Chunk::of(501, 0, 'count')],
            'Argument #2 ($within) must be at most 60 s' => [static fn () => Chunk::of(5, '61s', 'count')],
            'Argument #2 ($within) must be' => [static fn () => Chunk::of(5, -1, 'count'), static fn () => Chunk::of(5, 'soon', 'count')],
            'Argument #3 ($maxJobs) must be greater than or equal to 0' => [fn () => $this->chunk(5)->consume($this->filled(1), maxJobs: -1)],
        ];
        foreach ($wrong as $message => $calls) {
            foreach ($calls as $call) {
                try {
                    $call();
                    $this->fail($message);
                } catch (ValueError $error) {
                    $this->assertStringContainsString($message, $error->getMessage());
                    $this->assertStringStartsWith(Chunk::class . '::', $error->getMessage());
                }
            }
        }
        $this->assertSame([], $this->calls);
    }

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

    /**
     * In memory nothing is waited for that nobody else can push.
     *
     * @group redis
     */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
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

    /** A queue with so many ready jobs. */
    private function filled(int $jobs): QueueInterface
    {
        $queue = $this->delayQueue();
        for ($n = 1; $n <= $jobs; $n++) {
            $queue->push('x', id: "job-$n");
        }

        return $queue;
    }

    /** Notes the ids of each call. */
    private function chunk(int $size, ?callable $handler = null, string $within = '0'): Chunk
    {
        return Chunk::of($size, within: $within, handler: function (array $jobs, QueueInterface $queue) use ($handler): mixed {
            $this->calls[] = array_map(static fn (JobInterface $job): string => $job->id, $jobs);

            return $handler === null ? null : $handler($jobs, $queue);
        });
    }

    /** The last event that tells of the end of each job. */
    private function heard(Chunk $chunk): object
    {
        $heard = new class () {
            public int $begun = 0;

            /** @var array<string, string> */
            public array $outcomes = [];
        };
        foreach ([Event::Succeeded, Event::Released, Event::Failed, Event::Buried, Event::TimedOut, Event::LeaseLost] as $event) {
            $chunk->on($event, function (Event $event, JobInterface $job, ?Throwable $error, ?float $seconds) use ($heard): void {
                $this->assertIsFloat($seconds);
                $heard->outcomes[$job->id] = $event->value;
            });
        }
        $chunk->on(Event::Processing, static function () use ($heard): void {
            $heard->begun++;
        });

        return $heard;
    }
}
