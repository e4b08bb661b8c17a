<?php

declare(strict_types=1);

namespace DelayQueue\Tests;

use DelayQueue\JobInfo;
use DelayQueue\Testing\InteractsWithMemoryQueue;
use DelayQueue\Testing\JobAssertions;
use PHPUnit\Framework\AssertionFailedError;
use PHPUnit\Framework\TestCase;

final class JobAssertionsTest extends TestCase
{
    use InteractsWithMemoryQueue;

    public function testTheyWorkOnAnyQueueAsPlainCalls(): void
    {
        $queue = $this->delayQueue('own');
        $queue->push('x', delay: 900, id: 'a');
        $queue->push('y', id: 'b', maxAttempts: 1);
        JobAssertions::delayed($queue, 'a', 900);
        JobAssertions::pushed($queue, times: 2);
        $queue->reserve();
        JobAssertions::reserved($queue, static fn (JobInfo $job): bool => $job->payload === 'y');
        $queue->reserveJob('a')?->bury('why not');
        JobAssertions::buried($queue, 'a', 'why');
        JobAssertions::notPushed($queue, 'c');
        $this->assertDelayedElsewhere();
    }

    /** The methods of the trait take names, as well as objects. */
    private function assertDelayedElsewhere(): void
    {
        $queue = $this->delayQueue('orders');
        $queue->push('x', delay: 60, id: 'c');
        $this->assertDelayed('c', 'orders', 60);
        $this->assertDelayed('c', $queue, 60);
    }

    public function testTheyCanMeanTheJobsOfOneGroup(): void
    {
        $queue = $this->delayQueue('orders', ['ttr' => '1d']);
        $queue->pushMany([
            ['payload' => 1, 'id' => 'held', 'group' => 'acme'], ['payload' => 1, 'id' => 'buried', 'group' => 'acme'],
            ['payload' => 1, 'id' => 'later', 'delay' => 60, 'group' => 'acme'], ['payload' => 1, 'id' => 'none'],
        ]);
        $queue->reserveJob('buried')?->bury('why not');
        $held = $queue->reserveJob('held');
        $this->assertPushed(queue: 'orders', times: 3, group: 'acme');
        $this->assertReserved('held', 'orders', 'acme');
        $this->assertBuried(null, 'orders', 'why', 'acme');
        $this->assertDelayed(null, 'orders', 60, 'acme');
        $this->assertNotPushed('none', 'orders', 'acme');
        $this->assertNotPushed(null, 'orders', 'umbrella');
        $assertions = [
            fn () => $this->assertPushed('none', 'orders', group: 'acme'),
            fn () => $this->assertReserved('held', 'orders', group: 'umbrella'),
            fn () => $this->assertBuried('buried', 'orders', group: 'umbrella'),
            fn () => $this->assertDelayed('later', 'orders', group: 'umbrella'),
        ];
        $messages = [];
        foreach ($assertions as $assertion) {
            try {
                $assertion();
            } catch (AssertionFailedError $error) {
                $messages[] = strtok($error->getMessage(), "\n");
            }
        }
        $has = "Queue 'orders' has: delayed later of group 'acme'; ready none; reserved held of group 'acme'; buried buried of group 'acme'";
        $this->assertSame([
            "job 'none' of group 'acme' is not in the queue. $has",
            "job 'held' of group 'umbrella' is not reserved. $has",
            "job 'buried' of group 'umbrella' is not buried. $has",
            "job 'later' of group 'umbrella' is not delayed. $has",
        ], $messages);
        $held?->ack();
    }

    public function testTheDelaysOfSeveralJobsAreTold(): void
    {
        $queue = $this->delayQueue();
        $queue->push('x', delay: 1.5);
        $queue->push('x', delay: 60);

        $this->expectException(AssertionFailedError::class);
        $this->expectExceptionMessage('a job is delayed by 1.5 s, 60 s, not 5 s. The queue has: delayed ');
        JobAssertions::delayed($queue, delay: 5);
    }
}
