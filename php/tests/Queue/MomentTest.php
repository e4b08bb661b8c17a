<?php

declare(strict_types=1);

namespace DelayQueue\Tests\Queue;

use DateTimeImmutable;
use DelayQueue\Event;
use DelayQueue\Job;
use DelayQueue\Release;
use DelayQueue\State;
use RuntimeException;

/** Moments that end a job: $expires and $retryUntil. */
final class MomentTest extends QueueCase
{
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

    public function testAMomentIsWhatItIs(): void
    {
        $moment = new DateTimeImmutable('2100-01-01 00:00:00.5 UTC');
        $this->queue()->pushMany([['payload' => 1, 'id' => 'a', 'expires' => $moment], ['payload' => 1, 'id' => 'b', 'retryUntil' => $moment]]);
        $this->assertSame([4102444800.5, 4102444800.5], [$this->queue()->peek('a')?->expiresAt, $this->queue()->peek('b')?->retryUntil]);
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
        $this->assertSame([State::Buried, 'later'], [$queue->peek('released')?->state, $queue->peek('released')?->lastError]);
    }
}
