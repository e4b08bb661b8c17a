<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DelayQueue\Bury;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\JobInterface;
use DelayQueue\LeaseLostException;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\StopReason;
use DelayQueue\Tests\Support\Machine;
use RuntimeException;
use Throwable;

/** consume(), drain() and their listeners. */
final class LoopTest extends QueueCase
{
    public function testDrainRunsWhatIsDueInItsOrder(): void
    {
        $queue = $this->queue();
        $queue->pushMany([['payload' => 'b'], ['payload' => 'c', 'delay' => 60], ['payload' => 'a', 'priority' => 1]]);
        $seen = [];
        $handler = static function (Job $job, QueueInterface $from) use (&$seen, $queue): void {
            $seen[] = $job->payload;
            if ($job->payload === 'a') {
                $from->push('made by a handler');
            }
        };

        $this->assertSame(1, $queue->drain($handler, 1));
        $this->assertSame(2, $queue->drain($handler));
        $this->assertSame(0, $queue->drain($handler));
        $this->assertSame(['a', 'b', 'made by a handler'], $seen);
        $this->assertSame(1, $queue->count(State::Delayed));
        $queue->pushMany([['payload' => 'stops'], ['payload' => 'is left']]);
        $this->assertSame(1, $queue->drain(static fn (Job $job, QueueInterface $queue) => $queue->stop()));
    }

    public function testAHandlersEndSettlesItsJob(): void
    {
        $queue = $this->patient();
        $ends = [
            'done' => static fn (): int => 0,
            'true' => static fn (): bool => true,
            'false' => static fn (): bool => false,
            'Error' => static fn (): int => intdiv(1, 0),
            'no words' => static fn () => throw new RuntimeException(),
            'acked' => static fn (JobInterface $job) => $job->ack(),
            'throws' => static fn () => throw new RuntimeException('no bank'),
            'release' => static fn () => throw new Release('7m'),
            'bury' => static fn () => throw new Bury('hopeless'),
            'spent' => static fn () => throw new RuntimeException('for good'),
            'settled' => static fn (JobInterface $job) => $job->bury('by hand'),
            'settled and throws' => static function (JobInterface $job): void {
                $job->release(60);
                throw new RuntimeException('not told');
            },
        ];
        foreach (array_keys($ends) as $id) {
            $queue->push($id, id: $id, maxAttempts: $id === 'spent' ? 1 : 5);
        }
        $heard = [];
        foreach (Event::cases() as $event) {
            $queue->on($event, static function (Event $event, ?JobInterface $job, ?Throwable $error, ?float $seconds) use (&$heard): void {
                $heard[] = trim("$event->value $job?->id " . ($error === null ? '' : $error->getMessage()));
                $hasRun = $job !== null && $event !== Event::Processing;
                self::assertSame($hasRun, $seconds !== null && $seconds >= 0.002 && $seconds < 60, "$event->value: $seconds");
            });
        }

        $this->assertSame(12, $queue->drain(static function (Job $job) use ($ends) {
            usleep(3000);

            return $ends[$job->id]($job);
        }));
        $now = [];
        foreach (array_diff(array_keys($ends), $gone = ['done', 'true', 'acked']) as $id) {
            $info = $queue->peek($id);
            $reason = $info?->lastError === null ? null : strtok($info->lastError, "\n");
            $now[$id] = [$info?->state, $reason, round($info->dueAt - $info->createdAt)];
        }
        $this->assertSame([
            'false' => [State::Delayed, 'the handler returned false', 10.0],
            'Error' => [State::Delayed, 'DivisionByZeroError: Division by zero', 10.0],
            'no words' => [State::Delayed, 'RuntimeException', 10.0],
            'throws' => [State::Delayed, 'RuntimeException: no bank', 10.0],
            'release' => [State::Delayed, null, 420.0],
            'bury' => [State::Buried, 'hopeless', 0.0],
            'spent' => [State::Buried, 'RuntimeException: for good', 0.0],
            'settled' => [State::Buried, 'by hand', 0.0],
            'settled and throws' => [State::Delayed, null, 60.0],
        ], $now);
        $this->assertSame([null, null, null], array_map($queue->peek(...), $gone));
        $this->assertSame([
            'workerStarting',
            'workerReady',
            'processing done', 'succeeded done',
            'processing true', 'succeeded true',
            'processing false', 'failed false',
            'processing Error', 'failed Error Division by zero',
            'processing no words', 'failed no words',
            'processing acked',
            'processing throws', 'failed throws no bank',
            'processing release', 'released release',
            'processing bury', 'buried bury hopeless',
            'processing spent', 'failed spent for good', 'buried spent for good',
            'processing settled',
            'processing settled and throws',
            'workerStopping',
        ], $heard);
    }

    public function testTheMessageOfAReleaseBecomesTheLastError(): void
    {
        $queue = $this->patient();
        $queue->push('x', id: 'a');
        $errors = [];
        foreach (['rate limit', '', str_repeat('ä', 3000) . "\0"] as $message) {
            $queue->drain(static fn () => throw new Release(0, $message), 1);
            $errors[] = $queue->peek('a')?->lastError;
        }
        $this->assertSame(['rate limit', 'rate limit'], array_slice($errors, 0, 2));
        $this->assertStringStartsWith('ää', (string) $errors[2]);
        $this->assertLessThan(6000, strlen((string) $errors[2]), 'cut');
        $this->assertSame([3, $errors[2]], [$queue->peek('a')?->releases, $queue->reserve()?->lastError]);
    }

    public function testConsumeSaysWhyItReturnsAndHoldsNothingThen(): void
    {
        $queue = $this->queue();
        $nothing = static fn (): int => 0;
        $left = static fn (): array => [$queue->count(), $queue->count(State::Reserved), $queue->peekReady()?->attempts];
        $queue->pushMany(array_fill(0, 9, ['payload' => 'x']));

        $this->assertSame([StopReason::MaxJobs, [6, 0, 0]], [$queue->consume($nothing, maxJobs: 3), $left()]);
        $this->assertSame([StopReason::MaxJobs, [5, 0, 0]], [$queue->consume($nothing, maxJobs: 1, prefetch: 10), $left()]);
        $stop = static fn (Job $job, QueueInterface $queue) => $queue->stop();
        $this->assertSame([StopReason::Stopped, [4, 0, 0]], [$queue->consume($stop, prefetch: 5), $left()]);
        $this->assertSame([StopReason::MemoryLimit, [4, 0, 0]], [$queue->consume($nothing, memoryLimit: '1K', maxJobs: 1), $left()]);
        $this->assertSame([StopReason::Empty, [0, 0, null]], [$queue->consume($nothing, stopWhenEmpty: true), $left()]);
        $queue->push('later', delay: 3600);
        $this->assertSame([StopReason::Empty, [1, 0, null]], [$queue->consume($nothing, stopWhenEmpty: true), $left()]);
    }

    /**
     * A queue in memory ends at once: nobody can push to it.
     *
     * @group redis
     */
    #[\PHPUnit\Framework\Attributes\Group('redis')]
    public function testConsumeWaitsForJobsThatOthersMayPush(): void
    {
        $queue = $this->queue();
        $queue->push('later', delay: 3600);
        $started = microtime(true);
        $this->assertSame(StopReason::MaxTime, $queue->consume(static fn (): int => 0, maxTime: '300ms', idleTimeout: 60));
        $this->assertGreaterThanOrEqual(0.3, microtime(true) - $started);
        $this->assertLessThan(30, Machine::lasted($started), 'before the next idle round');
        $queue->on(Event::Idle, static fn () => $queue->stop());
        $this->assertSame(StopReason::Stopped, $queue->consume(static fn (): int => 0, idleTimeout: 0.05));
        $this->assertSame([1, 0], [$queue->count(), $queue->count(State::Reserved)]);
    }

    public function testConsumeReturnsAtItsLimitsWhileJobsAreLeft(): void
    {
        $queue = $this->queue();
        $queue->pushMany(array_fill(0, 100, ['payload' => 'x']));
        $this->assertSame(StopReason::MaxTime, $queue->consume(static fn () => usleep(20_000), maxTime: 0.1));
        $this->assertGreaterThan(80, $queue->count());

        $hoard = [];
        $keep = static function () use (&$hoard): void {
            $hoard[] = str_repeat('x', 4 << 20);
        };
        $this->assertSame(StopReason::MemoryLimit, $queue->consume($keep, memoryLimit: memory_get_usage(true) + (16 << 20)));
        $this->assertContains(count($hoard), [3, 4, 5]);
    }

    public function testConsumeWaitsForAJobThatFallsDue(): void
    {
        $queue = $this->queue();
        $queue->push('soon', delay: 1);
        $seen = [];
        $idle = 0;
        $queue->on(Event::Idle, static function () use (&$idle): void {
            ++$idle;
        });

        $queue->consume(static function (Job $job) use (&$seen): void {
            $seen[] = $job->payload;
        }, idleTimeout: 0.05, maxJobs: 1);

        $this->assertSame(['soon'], $seen);
        $this->assertGreaterThan(0, $idle);
    }

    public function testReserveWaitsForAJobThatFallsDue(): void
    {
        $queue = $this->queue();
        $queue->push('soon', delay: 0.2);
        $this->assertSame([null, []], [$queue->reserve(0.01), $queue->reserveMany(3, 0.01)]);

        $this->assertTrue($queue->wait(5));
        $this->assertSame('soon', $queue->reserve(5)?->payload);
        $this->assertFalse($queue->wait(0.01));
    }

    public function testAJobThatIsCancelledInItsHandlerIsReportedAsLost(): void
    {
        $queue = $this->queue();
        $queue->push('a', id: 'a');
        $heard = [];
        $queue->on(Event::LeaseLost, static function (Event $event, ?JobInterface $job) use (&$heard): void {
            $heard[] = $job?->id;
        });
        $queue->drain(static function (JobInterface $job, QueueInterface $queue): bool {
            $queue->cancel($job->id);

            return false;
        });

        $this->assertSame(['a'], $heard);
        $this->assertSame(0, $queue->count());
    }

    public function testALostLeaseThatAnInnerHandlerMeetsEndsTheInnerLoopAndIsThrownInTheOuterHandler(): void
    {
        $queue = $this->queue();
        $queue->push('outer', id: 'outer', priority: 0);
        $job = static fn (string $id): array => ['id' => $id, 'payload' => $id, 'maxAttempts' => 1];
        $queue->pushMany([$job('a'), $job('b')]);
        $thrown = null;
        $queue->drain(static function (Job $outer, QueueInterface $queue) use (&$thrown): void {
            try {
                $queue->drain(static function () use ($outer, $queue): void {
                    $queue->cancel($outer->id);
                    $outer->touch();
                });
            } catch (Throwable $thrown) {
                throw $thrown;
            }
        }, 1);

        $this->assertInstanceOf(LeaseLostException::class, $thrown);
        $this->assertStringContainsString("'outer'", $thrown->getMessage());
        $jobs = array_map($queue->peek(...), ['a', 'b']);
        $this->assertSame(
            [[State::Ready, 0], [State::Ready, 0]],
            array_map(static fn ($job): array => [$job->state, $job->attempts], $jobs),
        );
    }

    public function testALoopGoesBackToTheFirstQueueForEachJob(): void
    {
        [$urgent, $normal] = [$this->queue('urgent'), $this->queue('normal')];
        foreach ([$normal, $urgent] as $queue) {
            $queue->pushMany([['payload' => 'a'], ['payload' => 'b']]);
        }
        $seen = [];
        $this->queue('own')->watch('urgent', 'normal')->consume(static function (Job $job) use (&$seen, $urgent): bool {
            $seen[] = "$job->queue $job->payload";
            count($seen) === 3 && $urgent->push('late');

            return $job->payload !== 'b';
        }, stopWhenEmpty: true);

        $this->assertSame(['urgent a', 'urgent b', 'normal a', 'urgent late', 'normal b'], $seen);
        $this->assertSame([2, 1, 1, 1], [$urgent->stats()->acked, $urgent->stats()->failed, $normal->stats()->acked, $normal->stats()->failed]);
    }
}
