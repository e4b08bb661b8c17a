<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DateTimeImmutable;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\OnExpiry;
use DelayQueue\QueueInterface;
use DelayQueue\Release;
use DelayQueue\State;
use DelayQueue\Testing;
use RuntimeException;

/** Moments that end a job: $expires and $retryUntil. */
final class MomentTest extends QueueCase
{
    private const TOO_LATE = 'too late to be tried again';

    /** @return array<string, callable(QueueInterface): mixed> what would start a job; none is: null, false, 0 or [] */
    private static function starts(): array
    {
        return [
            'reserve' => static fn (QueueInterface $queue) => $queue->reserve(),
            'reserveMany' => static fn (QueueInterface $queue) => $queue->reserveMany(10),
            'reserveJob' => static fn (QueueInterface $queue) => $queue->reserveJob('a'),
            'consumer' => static fn (QueueInterface $queue) => $queue->consumer(),
            'wait' => static fn (QueueInterface $queue) => $queue->wait(0),
            'drain' => static fn (QueueInterface $queue) => $queue->drain(static fn () => null),
        ];
    }

    /** @return array{?State, ?string} */
    private static function end(QueueInterface $queue, string $id = 'a'): array
    {
        return [$queue->peek($id)?->state, $queue->peek($id)?->lastError];
    }

    public function testAJobThatWasNotStartedByThenNeverRuns(): void
    {
        foreach (self::starts() as $name => $start) {
            foreach (['1m', new DateTimeImmutable('@' . (time() + 60 + (int) Testing::offset()))] as $n => $expires) {
                $queue = $this->queue("$name$n");
                $queue->push('a', id: 'a', expires: $expires);
                $queue->push('b', delay: '1m', id: 'b', expires: '1m', onExpiry: OnExpiry::Drop);
                $this->travel('10m');
                $this->assertEmpty($start($queue), $name);
                $this->assertSame([State::Buried, 'expired'], self::end($queue), $name);
                if ($name !== 'reserveJob') {
                    $this->assertNull($queue->peek('b'), $name);
                    $stats = $queue->stats();
                    $this->assertSame([2, 2, 0, 0, 0], [$stats->expired, $stats->pushed, $stats->acked, $stats->failed, $stats->cancelled], $name);
                }
            }
        }
    }

    public function testAnAttemptThatWouldComeTooLateIsNotMade(): void
    {
        foreach (self::starts() as $name => $start) {
            $queue = $this->queue($name);
            $queue->push('a', id: 'a', retryUntil: '1m');
            $this->travel('10m');
            $this->assertEmpty($start($queue), $name);
            $this->assertSame([State::Buried, self::TOO_LATE], self::end($queue), $name);
            $this->assertSame(1, $queue->stats()->expired, $name);
        }
    }

    public function testTheTimeRunsFromTheFirstDueTime(): void
    {
        $queue = $this->queue();
        $queue->push('a', delay: '1h', id: 'a', expires: '1m');
        $info = $queue->peek('a');
        $this->assertEqualsWithDelta(60.0, $info->expiresAt - $info->dueAt, 0.001);
        $this->assertSame([null, null], [$info->retryUntil, $info->firstDueAt]);
        $this->travel('1h');
        $job = $queue->reserve();
        $job->fail('boom');
        $this->travel('1h');

        $this->assertSame(2, $queue->reserve()?->attempts, 'it was started in time');
        $this->assertEqualsWithDelta($info->dueAt, $queue->peek('a')?->firstDueAt, 0.001);
    }

    public function testALoopTellsThatAReleasedOrFailedJobWasBuried(): void
    {
        $queue = $this->patient();
        $queue->push('released', id: 'released', retryUntil: 5);
        $queue->push('failed', id: 'failed', retryUntil: 5);
        $heard = [];
        foreach ([Event::Released, Event::Failed, Event::Buried] as $event) {
            $queue->on($event, static function (Event $event, ?Job $job) use (&$heard): void {
                $heard[] = "$event->value $job?->id";
            });
        }
        $queue->drain(static fn (Job $job) => throw $job->id === 'failed' ? new RuntimeException('boom') : new Release(60, 'later'));

        $this->assertSame(['buried released', 'failed failed', 'buried failed'], $heard);
        $this->assertSame([State::Buried, 'later'], self::end($queue, 'released'));
    }
}
